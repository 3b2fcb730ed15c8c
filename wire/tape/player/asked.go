package player

import (
	"fmt"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// asked identifies the entry of a request by its play and its index. poll is set if the request is being repeated.
type asked struct {
	p    *play
	i    int32
	poll *polling
}

// A retired is a local request to which all recorded responses have arrived.
type retired struct {
	key string // of its id
	i   int32
}

// maxRetired limits the number of these requests that the engine stores.
const maxRetired = 1000

// retire records that all responses to the request at, which was sent with this id, have arrived.
func (e *engine) retire(id wire.ID, i int32) {
	e.retired = append(e.retired, retired{string(id.Key()), i})
	if len(e.retired) <= maxRetired {
		return
	}
	oldest := e.retired[0]
	e.retired = e.retired[1:]
	if at, ok := e.asked[oldest.key]; ok && at.i == oldest.i && !at.p.asked[at.i] {
		delete(e.asked, oldest.key)
	}
}

// answer handles the live response to a local request.
func (e *engine) answer(c *conn, at asked, id wire.ID, msg []byte) {
	p := at.p
	e.lastActive = time.Now()
	if e.poll(c, at, msg) {
		return
	}
	delete(p.asked, at.i)
	i := e.policy.answered(p, at.i, msg)
	if i == transcript.None || p.track.Entry(i).More == transcript.None {
		e.retire(id, at.i)
	}
	if i != transcript.None {
		p.accept(i, msg)
		e.start(p, i, c)
	}
}

// A polling is a request for the status of a job, which is repeated until the job ends.
type polling struct {
	first time.Time
	times int
}

// The pauses between these requests grow from minPoll to maxPoll.
const (
	minPoll = 50 * time.Millisecond
	maxPoll = 500 * time.Millisecond
)

// poll repeats the request at, after a pause, if the job in msg is still running although it has ended in the recorded
// response. It returns false if the job has already run longer than recorded by more than the answer timeout.
func (e *engine) poll(c *conn, at asked, msg []byte) bool {
	p, method := at.p, at.p.track.Method(int(at.i))
	answer := p.track.Entry(at.i).Answer
	if e.side != wire.Send || answer == transcript.None || !p.rules.Running(method, msg) {
		return false
	}
	line, err := p.track.Line(int(answer))
	if err != nil || line.Msg == nil || p.rules.Running(method, line.Msg) {
		return false
	}
	if at.poll == nil {
		at.poll = &polling{first: time.Now()}
	}
	if time.Since(at.poll.first) > line.Time+e.o.AnswerTimeout {
		return false
	}
	at.poll.times++
	time.AfterFunc(min(minPoll*time.Duration(at.poll.times), maxPoll), func() {
		e.hand(func() bool {
			e.repeat(c, at)
			return false
		})
	})
	return true
}

// repeat sends the request at again with a new id.
func (e *engine) repeat(c *conn, at asked) {
	msg, err := at.p.outgoing(at.i, nil)
	if err == nil {
		msg = at.renumbered(msg, at.poll.times)
		e.asked[string(match.IDOf(at.p.rules.Shape(), msg).Key())] = at
		e.carry(c, at.p, at.i, msg)
	}
	e.send(c, msg, at.p.track.Binary(at.i), err)
}

// renumbered returns msg, which is the request at, with an id that is different for each value of times.
func (at asked) renumbered(msg []byte, times int) []byte {
	id := fmt.Appendf(nil, "%d", 1_000_000*times+int(at.i))
	if own, ok := scan.Text(match.IDOf(at.p.rules.Shape(), msg)); ok {
		id = scan.AppendQuoted(nil, fmt.Sprintf("%s-%d", own, times))
	}
	return match.SetID(at.p.rules.Shape(), msg, id)
}

// pending reports whether the local request with this id is waiting for its response.
func (e *engine) pending(id wire.ID) bool {
	at, ok := e.asked[string(id.Key())]
	return ok && at.p.asked[at.i]
}

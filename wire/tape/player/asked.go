package player

import (
	"fmt"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// asked identifies the entry of a request by its play and index. poll is set if the request is repeated.
type asked struct {
	p    *play
	i    int32
	poll *polling
}

// retired are local requests with all their recorded responses, oldest first. They identify additional responses. Their number is
// bounded.
type retired []struct {
	id string
	i  int32
}

const maxRetired = 1000

// retire records that at, sent with id, has all its responses.
func (e *engine) retire(id wire.ID, i int32) {
	e.retired = append(e.retired, struct {
		id string
		i  int32
	}{string(id), i})
	if len(e.retired) <= maxRetired {
		return
	}
	oldest := e.retired[0]
	e.retired = e.retired[1:]
	if at, ok := e.asked[oldest.id]; ok && at.i == oldest.i && !at.p.asked[at.i] {
		delete(e.asked, oldest.id)
	}
}

// answer processes the live response to a local request.
func (e *engine) answer(c *conn, at asked, id wire.ID, msg []byte) {
	p := at.p
	e.lively = time.Now()
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

// A polling is a request about a job that is repeated until the end of the job.
type polling struct {
	first time.Time
	times int
}

// These are the shortest and the longest pause between requests about a job.
const (
	minPoll = 50 * time.Millisecond
	maxPoll = 500 * time.Millisecond
)

// poll repeats the request at after a pause if the job of msg still runs, although its recorded response reports an end. It
// returns false if the job has exceeded its recorded time plus the answer timeout.
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
	time.AfterFunc(min(minPoll*time.Duration(at.poll.times), maxPoll), func() { e.hand(arrival{conn: c, again: &at}) })
	return true
}

// repeat sends the request at again with a new id.
func (e *engine) repeat(c *conn, at asked) {
	msg, err := at.p.outgoing(at.i, nil)
	if err == nil {
		msg = at.renumbered(msg, at.poll.times)
		e.asked[string(match.IDOf(at.p.rules.Shape(), msg))] = at
		e.carry(c, at.p, at.i, msg)
	}
	e.send(c, msg, at.p.track.Binary(at.i), err)
}

// renumbered returns msg, the request at, with a different id for each value of times.
func (at asked) renumbered(msg []byte, times int) []byte {
	id := fmt.Appendf(nil, "%d", 1_000_000*times+int(at.i))
	if own, ok := scan.Text(match.IDOf(at.p.rules.Shape(), msg)); ok {
		id = scan.AppendQuoted(nil, fmt.Sprintf("%s-%d", own, times))
	}
	return match.SetID(at.p.rules.Shape(), msg, id)
}

// pending reports whether a local request with that id waits for a response.
func (e *engine) pending(id wire.ID) bool {
	at, ok := e.asked[string(id)]
	return ok && at.p.asked[at.i]
}

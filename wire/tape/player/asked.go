package player

import (
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/transcript"
)

// asked is the entry of a request: its play and its index.
type asked struct {
	p *play
	i int32
}

// retired are local requests whose recorded responses have all arrived, oldest first. They identify additional responses. The oldest are
// forgotten.
type retired []struct {
	id string
	i  int32
}

const maxRetired = 1000

// retire records that all responses to at, which was sent with id, have arrived.
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

// answer handles the live response to a local request.
func (e *engine) answer(c *conn, at asked, id wire.ID, msg []byte) {
	p := at.p
	e.lively = time.Now()
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

package batch

import (
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A job is one line of stdin with its response. After printing, another line reuses it.
type job struct {
	f    *flow
	n    int64  // the line number
	line []byte // a copy that belongs to the job
	id   []byte // the id of the response: the id in the line, or else the line number
	num  [20]byte

	isRead bool       // op and bad are set
	op     dialect.Op // the operation of the line
	bad    error      // the line's error in the form of a peer's error

	pipelined bool // the call is in the pipeline
	sent      time.Time

	answer  []byte // the response; empty if the batch ended first
	refused bool   // the response is an error from the peer
	ended   bool   // the job has ended
}

// keptBytes bounds the memory that the next line reuses.
const keptBytes = 64 << 10

// set makes j the job for a line.
func (j *job) set(n int64, line []byte) {
	*j = job{f: j.f, n: n, line: append(reused(j.line), line...), answer: reused(j.answer)}
	j.id = strconv.AppendInt(j.num[:0], n, 10)
}

// reused returns the memory of b if it is at most keptBytes.
func reused(b []byte) []byte {
	if cap(b) > keptBytes {
		return nil
	}
	return b[:0]
}

// answerWith sets the output of j to {"id":ID,MEMBER:VALUE} on one line.
func (j *job) answerWith(member string, value json.RawMessage) {
	value = scan.OrNull(value)
	line := scan.AppendObject(j.answer[:0])
	line.Add("id", j.id)
	line.Compact(member, value)
	j.answer = line.End()
}

// Answered implements dialect.PipelinedCall.
func (j *job) Answered(m *wire.Message) bool {
	ev := &j.f.event
	err := j.f.b.conv.Event(m, ev)
	switch {
	case err != nil:
		return false
	case ev.Kind == wire.Data:
		j.answerWith("result", ev.Data)
	case ev.Kind == wire.Failure && ev.Final && ev.Err != nil && j.f.ctx.Err() == nil:
		j.answerWith("error", ev.Err.JSON())
		j.refused = true
		j.f.first.note(j, ev.Err)
	default:
		return false
	}
	j.f.answers.mu.Lock()
	j.f.arrived = append(j.f.arrived, j)
	j.f.answers.mu.Unlock()
	return true
}

// Opened implements dialect.PipelinedCall.
func (j *job) Opened(st dialect.Stream) { go j.f.finishAsStream(j, st) }

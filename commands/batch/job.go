package batch

import (
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A job is one line of stdin and the place of its answer. It is used for another
// line when its answer has been printed.
type job struct {
	f    *flow
	n    int64  // the number of the line
	line []byte // in memory of its own
	id   []byte // of the answer: that of the line, else its number
	num  [20]byte

	isRead bool       // what follows is that of the line
	op     dialect.Op // the operation
	bad    error      // its error, in the form of a peer's response

	pipelined bool // it is in the pipeline
	sent      time.Time

	answer  []byte
	hasOne  bool // false: the batch ended before it
	refused bool // the answer is an error of the peer's
	over    bool // nothing more comes
}

// keptBytes bounds the memory that a job keeps for the next line.
const keptBytes = 64 << 10

// set makes j that of a line.
func (j *job) set(n int64, line []byte) {
	method := j.op.Method
	*j = job{f: j.f, n: n, line: append(reused(j.line), line...), answer: reused(j.answer)}
	j.op.Method = method // mostly the next line's, too
	j.id = strconv.AppendInt(j.num[:0], n, 10)
}

// reused returns b's memory, unless it is much.
func reused(b []byte) []byte {
	if cap(b) > keptBytes {
		return nil
	}
	return b[:0]
}

// answerWith makes {"id":ID,MEMBER:VALUE} the answer of j, on one line.
func (j *job) answerWith(member string, value json.RawMessage) {
	if value == nil {
		value = json.RawMessage("null")
	}
	line := scan.AppendObject(j.answer[:0])
	line.Add("id", j.id)
	line.Compact(member, value)
	j.answer, j.hasOne = line.End(), true
}

// Over reports whether nothing more comes.
func (j *job) Over() bool { return j.over }

// Size returns how much memory the line takes.
func (j *job) Size() int { return len(j.line) }

// Answered implements dialect.PipelinedCall.
func (j *job) Answered(m *wire.Message) bool {
	ev := &j.f.said
	err := j.f.b.conv.Event(m, ev)
	switch {
	case err != nil:
		return false
	case ev.Kind == wire.Data:
		j.answerWith("result", ev.Data)
	case ev.Kind == wire.Failure && ev.Final && ev.Err != nil && j.f.ctx.Err() == nil:
		j.answerWith("error", ev.Err.JSON())
		j.refused = true
	default:
		return false
	}
	j.f.answered(j)
	return true
}

// Opened implements dialect.PipelinedCall.
func (j *job) Opened(st dialect.Stream) { go j.f.finishAsStream(j, st) }

package jsonrpc

import (
	"errors"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// maxBatch bounds the messages of a batch, because each needs a thousand times its size on the wire. batchKept bounds
// the messages whose memory is reused.
const (
	maxBatch  = 1 << 16
	batchKept = 1 << 10
)

// A Reader splits received JSON into messages. The codecs of this package and of dialect files use it.
type Reader struct {
	Depth   int  // the maximum nesting
	Batches bool // an array is a batch
	// Element reads the value at raw[i] into m, a zero Message, and returns the end of the value.
	Element func(raw []byte, i, depth int, m *wire.Message) (end int, err error)
	Msgs    []wire.Message // the messages of the last Read; their memory is reused
}

// Read sets Msgs to the messages in raw, in one pass, which also checks the JSON. batch reports whether raw was a batch. An
// empty batch is one invalid message. If raw is not JSON, or is a batch of too many messages, Read returns an error.
func (r *Reader) Read(raw []byte) (batch bool, err error) {
	if r.reset(); cap(r.Msgs) > batchKept {
		r.Msgs = nil
	}
	var end int
	i := scan.Skip(raw, 0)
	if batch = r.Batches && i < len(raw) && raw[i] == '['; batch {
		end, err = r.batch(raw, i)
	} else {
		end, err = r.One(raw, i, r.Depth)
	}
	if err == nil && scan.Skip(raw, end) < len(raw) {
		err = errors.New("more than one JSON value in a message")
	}
	switch {
	case err != nil:
		r.reset()
		return false, err
	case len(r.Msgs) == 0:
		r.Msgs = append(r.Msgs, Invalid(raw, nil, "an empty batch"))
		return false, nil
	}
	return batch, nil
}

func (r *Reader) reset() {
	clear(r.Msgs)
	r.Msgs = r.Msgs[:0]
}

// batch reads the messages in the array at raw[i].
func (r *Reader) batch(raw []byte, i int) (end int, err error) {
	all := scan.ReadArrayAt(raw, i, r.Depth)
	for _, more := all.NextKey(); more; _, more = all.NextKey() {
		if len(r.Msgs) == maxBatch {
			return 0, errors.New("a batch of more than " + strconv.Itoa(maxBatch) + " messages")
		}
		end, err := r.One(raw, all.Pos(), r.Depth-1)
		if err != nil {
			return 0, err
		}
		all.SkipTo(end)
	}
	return all.Pos(), all.Err()
}

// One appends the message at raw[i] to Msgs. If it fails, it appends nothing.
func (r *Reader) One(raw []byte, i, depth int) (end int, err error) {
	n := len(r.Msgs)
	r.Msgs = append(r.Msgs, wire.Message{})
	if end, err = r.Element(raw, i, depth, &r.Msgs[n]); err != nil {
		r.Msgs = r.Msgs[:n]
	}
	return end, err
}

// Broken sets Msgs to the Invalid message for input that is not JSON, and returns it.
func (r *Reader) Broken(raw []byte, what string) []wire.Message {
	r.reset()
	e := wire.NewError(wire.CodeParse, "Parse error").WithData(what)
	r.Msgs = append(r.Msgs, wire.Message{Kind: wire.Invalid, Raw: raw, Err: e})
	return r.Msgs
}

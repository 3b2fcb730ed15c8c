package envelope

import (
	"bytes"
	"slices"
	"strconv"

	"rpcx/wire"
)

// order replaces ids in dialects without them: responses arrive in the order of their requests.
type order struct {
	last int64
	open []wire.ID
	held map[string]*held // responses that are ready before those of earlier requests
}

// held are the responses to one request that wait for their turn.
type held struct {
	msgs [][]byte
	last bool // no more responses will follow
}

// next returns an id for a new request.
func (o *order) next() wire.ID {
	o.last++
	id := wire.ID(strconv.AppendInt(nil, o.last, 10))
	return id
}

// oldest returns the id of the request to be answered next, or nil if none is open. With remove it also removes it.
func (o *order) oldest(remove bool) wire.ID {
	if len(o.open) == 0 {
		return nil
	}
	id := o.open[0]
	if remove {
		o.open = o.open[1:]
	}
	return id
}

// inTurn returns the responses that can be written when msg is ready for the request with that id. last marks the final one.
func (o *order) inTurn(id wire.ID, msg []byte, last bool) (due [][]byte) {
	if !slices.ContainsFunc(o.open, func(open wire.ID) bool { return bytes.Equal(open, id) }) {
		return [][]byte{msg}
	}
	if o.held == nil {
		o.held = map[string]*held{}
	}
	h := o.held[string(id)]
	if h == nil {
		h = &held{}
		o.held[string(id)] = h
	}
	h.msgs, h.last = append(h.msgs, bytes.Clone(msg)), last
	for len(o.open) > 0 {
		h := o.held[string(o.open[0])]
		if h == nil {
			break
		}
		due = append(due, h.msgs...)
		if h.msgs = nil; !h.last {
			break
		}
		delete(o.held, string(o.oldest(true)))
	}
	return due
}

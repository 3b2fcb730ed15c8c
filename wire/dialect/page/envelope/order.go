package envelope

import (
	"bytes"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// order replaces ids in dialects without them: responses have the order of their requests.
type order struct {
	last int64
	open []wire.ID
	held map[string]*held // responses that are ready before those of earlier requests
}

// held are the responses to one request that wait for earlier ones.
type held struct {
	msgs [][]byte
	last bool
}

// next returns an id for a new request.
func (o *order) next() wire.ID {
	o.last++
	id := wire.ID(strconv.AppendInt(nil, o.last, 10))
	return id
}

// oldest returns the id of the next request to answer, or nil. With remove, it removes the request.
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

// inTurn returns the responses to write when msg is ready for the request with that id. last marks its final response.
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

// These ids replace a missing id and the id null of a request. The response has the request's original id.
var (
	withoutID = []byte(`"\u0000 `)
	withNull  = []byte(`"\u0000n`)
)

// asksUnnumbered reports whether messages without an id are requests, because events have their method in another member.
func (c *codec) asksUnnumbered() bool {
	p := c.plan
	return c.o.Serving && p.page.Base == "none" && p.names.IDs != "none" && p.request.method.head >= 0 && p.event.method.head >= 0 &&
		p.request.method.head != p.event.method.head
}

// unnumbered returns an id for a request whose id is missing or null.
func (c *codec) unnumbered(own []byte) wire.ID {
	id := withoutID
	if own != nil {
		id = withNull
	}
	return append(append(bytes.Clone(id), c.theirs.next()...), '"')
}

// ownID returns the id for the response to a request, or nil.
func ownID(id wire.ID) []byte {
	switch {
	case bytes.HasPrefix(id, withoutID):
		return nil
	case bytes.HasPrefix(id, withNull):
		return null
	}
	return scan.OrNull(id)
}

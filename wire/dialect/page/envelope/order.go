package envelope

import (
	"bytes"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// order replaces ids in dialects without ids, in which responses arrive in the order of their requests.
type order struct {
	last int64
	open []wire.ID
	held map[string]held // responses that are ready before the responses to earlier requests
}

// held contains the responses to one request while they wait for the responses to earlier requests.
type held struct {
	msgs [][]byte
	last bool
}

// next returns an id for another request.
func (o *order) next() wire.ID {
	o.last++
	return strconv.AppendInt(nil, o.last, 10)
}

// inTurn returns the messages to write when msg, a response to the request with that id, is ready. last means that msg
// is the final response.
func (o *order) inTurn(id wire.ID, msg []byte, last bool) (due [][]byte) {
	if !slices.ContainsFunc(o.open, func(open wire.ID) bool { return bytes.Equal(open, id) }) {
		return [][]byte{msg}
	}
	wire.Put(&o.held, string(id), held{append(o.held[string(id)].msgs, bytes.Clone(msg)), last})
	for len(o.open) > 0 {
		h, ready := o.held[string(o.open[0])]
		due = append(due, h.msgs...)
		if delete(o.held, string(o.open[0])); !ready || !h.last {
			break
		}
		o.open = o.open[1:]
	}
	return due
}

// withoutID and withNull are prefixes of the ids that rpcx gives to requests whose id is missing or null. The response
// has no id, or the id null.
var (
	withoutID = []byte(`"\u0000 `)
	withNull  = []byte(`"\u0000n`)
)

// asksUnnumbered reports whether a message without an id is a request, because events have another member for the method.
func (c *codec) asksUnnumbered() bool {
	p := c.plan
	return c.o.Serving && p.page.Base == "none" && p.names.IDs != "none" && p.request.method.head >= 0 && p.event.method.head >= 0 &&
		p.request.method.head != p.event.method.head
}

// unnumbered returns an id for a request whose own id is missing or null.
func (c *codec) unnumbered(own []byte) wire.ID {
	id := withoutID
	if own != nil {
		id = withNull
	}
	return append(append(bytes.Clone(id), c.theirs.next()...), '"')
}

// ownID returns the id to write in the response to a request, or nil if the request had none.
func ownID(id wire.ID) []byte {
	switch {
	case bytes.HasPrefix(id, withoutID):
		return nil
	case bytes.HasPrefix(id, withNull):
		return null
	}
	return scan.OrNull(id)
}

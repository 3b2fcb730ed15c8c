package envelope

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// The ids that stand for a missing id and for the id null of a request. The response gets the request's original id.
var (
	withoutID = []byte(`"\u0000 `)
	withNull  = []byte(`"\u0000n`)
)

// asksUnnumbered reports whether messages without an id are also requests: they cannot be events, whose method is in a different member.
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

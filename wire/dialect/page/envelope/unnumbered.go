package envelope

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// What a request without an id, or with the id null, has as its id here. Its response has what the request had.
var (
	withoutID = []byte(`"\u0000 `)
	withNull  = []byte(`"\u0000n`)
)

// asksUnnumbered reports whether messages without an id are requests too: as the method of an event has another name, they
// can be nothing else.
func (c *codec) asksUnnumbered() bool {
	p := c.plan
	return c.o.Serving && p.page.Base == "none" && p.names.IDs != "none" && p.request.method.head >= 0 && p.event.method.head >= 0 &&
		p.request.method.head != p.event.method.head
}

// unnumbered returns an id for a request whose own is nil or null.
func (c *codec) unnumbered(own []byte) wire.ID {
	id := withoutID
	if own != nil {
		id = withNull
	}
	return append(append(bytes.Clone(id), c.theirs.next()...), '"')
}

// ownID returns the id that the response to a request has, or nil if there is none.
func ownID(id wire.ID) []byte {
	switch {
	case bytes.HasPrefix(id, withoutID):
		return nil
	case bytes.HasPrefix(id, withNull):
		return null
	}
	return scan.OrNull(id)
}

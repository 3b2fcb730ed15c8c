package scomp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// peerHandshake is what the peer sent in the handshake: the result of the local handshake, or the params of the peer's.
// Flows read it while the codec decodes.
type peerHandshake struct {
	catalogOf atomic.Pointer[func() *catalog.Catalog] // nil before the handshake; makes the catalog when it is first needed
}

// set stores raw. who is the member of the metadata that identifies the peer: "server" or "client".
func (g *peerHandshake) set(raw json.RawMessage, who string) {
	raw = bytes.Clone(raw)
	g.catalogOf.Store(new(sync.OnceValue(func() *catalog.Catalog { return fromHandshake(raw, who) })))
}

// catalog returns the catalog that the peer declared, or nil before the handshake. The caller must not change it.
func (g *peerHandshake) catalog() *catalog.Catalog {
	if of := g.catalogOf.Load(); of != nil {
		return (*of)()
	}
	return nil
}

// Handshake sends the handshake of a client. It returns a Fault of kind Protocol if the response is invalid, and of
// kind Unreachable if the server no longer has the session to resume.
func (c *codec) Handshake(ctx context.Context, caller dialect.Caller) error {
	m, err := poll.Ask(ctx, caller, handshake, c.handshakePart()) // not CallOp, which returns only the member value of a result
	switch {
	case err != nil:
		return err
	case m.Err != nil:
		return &wire.Fault{Kind: wire.Protocol, Method: handshake, RPC: m.Err, Message: "the handshake was refused: " + m.Err.Error()}
	}
	if err := check(m.Body); err != nil {
		return err
	}
	c.handshake.set(m.Body, "server")
	got := scan.String(scan.Get(m.Body, sessionWord))
	if c.intro.Resume != "" && c.intro.Last == "" && got != c.intro.Resume {
		return wire.NewFault(wire.Unreachable, fmt.Sprintf("the session %s no longer exists: the server started the session %s instead", c.intro.Resume, got), nil)
	}
	if c.intro.Began != nil {
		c.intro.Began(got)
	}
	return nil
}

// check returns a Fault of kind Protocol if body is not a valid response to the handshake.
func check(body json.RawMessage) error {
	what := ""
	switch {
	case scan.Type(body) != 'o':
		what = "it is not an object"
	case scan.String(scan.Get(body, "protocol")) != protocol:
		what = `its protocol is not "` + protocol + `"`
	case scan.String(scan.Get(body, sessionWord)) == "":
		what = "it has no sessionId"
	default:
		return nil
	}
	received := wire.Excerpt(scan.Compact(nil, body), 300)
	return wire.NewFault(wire.Protocol, "the response to the handshake is not valid in scomp "+protocol+": "+what+": "+received, nil).WithMethod(handshake)
}

// handshakePart returns the handshake's params: bindings, and metadata with the client's name and the session to resume.
func (c *codec) handshakePart() json.RawMessage {
	var metadata scan.Object
	given := scan.Get(c.intro.Settings, "metadata")
	if scan.Get(given, "client") == nil {
		metadata.Add("client", identity(c.intro.Info))
	}
	resume := cmp.Or(c.intro.Last, c.intro.Resume)
	if resume != "" {
		given = scan.Without(given, resumeWord)
	}
	metadata.Named(given)
	metadata.SomeText(resumeWord, resume)
	return handshakePart(bindings(c.intro.Offers), metadata.End(), "")
}

// handshakePart returns either side's part of the handshake. session is the server's sessionId, or "" for a client.
func handshakePart(bindings, metadata json.RawMessage, session string) json.RawMessage {
	var o scan.Object
	o.Text("protocol", protocol)
	o.SomeText(sessionWord, session)
	o.Add("bindings", bindings)
	o.Add("metadata", metadata)
	return o.End()
}

// identity returns an object with name and version for metadata.client or metadata.server.
func identity(i catalog.Info) json.RawMessage {
	var o scan.Object
	o.SomeText("name", i.Name)
	o.SomeText("version", i.Version)
	return o.End()
}

// Describe returns the catalog that the peer declared in the handshake. It sends nothing.
func (c *codec) Describe(context.Context, dialect.Caller) (*catalog.Catalog, error) {
	cat := c.handshake.catalog()
	if cat == nil {
		return nil, wire.ErrUnsupported
	}
	return cat.Clone(), nil
}

// Declared returns the catalog that describes method: a binding of the handshake, or a received function. It returns
// nil if method is unknown.
func (c *codec) Declared(method string) *catalog.Catalog {
	if id, ok := cutRef(method); ok {
		fn := c.refs.described(id)
		if fn == nil {
			return nil
		}
		r := newReader()
		r.method(scan.Splice(fn, "name", scan.AppendQuoted(nil, method)))
		return r.c
	}
	return c.handshake.catalog()
}

// Typing returns a copy of the catalog that Declared returns.
func (c *codec) Typing(_ context.Context, _ dialect.Caller, method string) (*catalog.Catalog, error) {
	cat := c.Declared(method)
	if cat == nil {
		return nil, nil
	}
	return cat.Clone(), nil
}

// Shutdown sends release_ref for each of the peer's functions, so that the peer can free them before the connection
// closes.
func (c *codec) Shutdown(ctx context.Context, caller dialect.Caller) error {
	for _, id := range c.refs.held() {
		params := scan.Pair(releasedSpellings[0], scan.AppendQuoted(nil, id))
		if err := caller.Notify(ctx, dialect.Op{Kind: dialect.Internal, Method: releaseWord, Params: params}); err != nil {
			return err
		}
	}
	return nil
}

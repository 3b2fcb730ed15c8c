package scomp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// greeting is what the far side said in the handshake.
type greeting struct {
	mu   sync.Mutex
	said json.RawMessage // its answer to ours, or its own params; nil: nothing yet
	who  string          // the member of its metadata that names it
}

func (g *greeting) set(said json.RawMessage, who string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.said, g.who = bytes.Clone(said), who
}

func (g *greeting) get() (said json.RawMessage, who string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.said, g.who
}

// Introduce takes what the handshake is to say of us.
func (c *codec) Introduce(i dialect.Introduction) { c.intro = i }

// Session is the sessionId that the far side answered.
func (c *codec) Session() string {
	said, _ := c.greet.get()
	return text(scan.Get(said, sessionWord))
}

// Greet makes the handshake. A server that answers something else is a Fault of
// kind Protocol; one that does not have the session to go on with is one of kind
// Unreachable.
func (c *codec) Greet(ctx context.Context, caller dialect.Caller) error {
	st, err := caller.Open(ctx, dialect.Op{Kind: dialect.Own, Method: handshake, Params: c.hello()})
	var m wire.Message
	if err == nil {
		m, err = st.Next(ctx)
	}
	switch f := wire.AsFault(err); {
	case f != nil && f.Kind == wire.Closed && f.Close != nil && f.Close.Child != nil:
		return wire.NewFault(wire.Unreachable, f.Message, err)
	case err != nil:
		return err
	case m.Err != nil:
		return &wire.Fault{Kind: wire.Protocol, Method: handshake, RPC: m.Err.Clone(), Message: "the handshake was refused: " + m.Err.Error()}
	}
	if err := check(m.Body); err != nil {
		return err
	}
	c.greet.set(m.Body, "server")
	if got := text(scan.Get(m.Body, sessionWord)); c.intro.Resume != "" && c.intro.Last == "" && got != c.intro.Resume {
		return wire.NewFault(wire.Unreachable, fmt.Sprintf("the session %s is not there any more: the server began %s in its place", c.intro.Resume, got), nil)
	}
	return nil
}

// check says what is wrong with the answer to a handshake.
func check(body json.RawMessage) error {
	what := ""
	switch {
	case scan.Type(body) != 'o':
		what = "it is no object"
	case text(scan.Get(body, "protocol")) != protocol:
		what = `its protocol is not "` + protocol + `"`
	case text(scan.Get(body, sessionWord)) == "":
		what = "it has no sessionId"
	default:
		return nil
	}
	const most = 300
	came := string(scan.Compact(nil, body))
	if len(came) > most {
		came = came[:most] + "…"
	}
	f := wire.NewFault(wire.Protocol, "the answer to the handshake is not one of scomp "+protocol+": "+what+": "+came, nil)
	f.Method = handshake
	return f
}

// hello is the params of our handshake.
func (c *codec) hello() json.RawMessage {
	metadata := []byte{'{'}
	if scan.Get(c.intro.Metadata, "client") == nil {
		metadata = member(metadata, "client", named(c.intro.Info))
	}
	resume := cmp.Or(c.intro.Last, c.intro.Resume)
	for key, val := range members(c.intro.Metadata) {
		if key != resumeWord || resume == "" {
			metadata = member(metadata, key, val)
		}
	}
	if resume != "" {
		metadata = member(metadata, resumeWord, scan.AppendQuoted(nil, resume))
	}
	return hello(bindings(c.intro.Offers), append(metadata, '}'), "")
}

// hello is either side's part of a handshake; session is a server's.
func hello(bindings, metadata json.RawMessage, session string) json.RawMessage {
	b := member([]byte{'{'}, "protocol", scan.AppendQuoted(nil, protocol))
	if session != "" {
		b = member(b, sessionWord, scan.AppendQuoted(nil, session))
	}
	return append(member(member(b, "bindings", bindings), "metadata", metadata), '}')
}

// named says who somebody is.
func named(i catalog.Info) json.RawMessage {
	b := []byte{'{'}
	if i.Name != "" {
		b = member(b, "name", scan.AppendQuoted(nil, i.Name))
	}
	if i.Version != "" {
		b = member(b, "version", scan.AppendQuoted(nil, i.Version))
	}
	return append(b, '}')
}

// Describe is what the far side said in the handshake, a client as well as a
// server: it need not be asked.
func (c *codec) Describe(context.Context, dialect.Caller) (*catalog.Catalog, error) {
	said, who := c.greet.get()
	if said == nil {
		return nil, wire.ErrUnsupported
	}
	return fromGreeting(said, who), nil
}

// Typing is the catalog that says what method takes and gives: of a binding what
// the greeting said, of a function what it said of itself.
func (c *codec) Typing(ctx context.Context, caller dialect.Caller, method string) (*catalog.Catalog, error) {
	if id, ok := cutRef(method); ok {
		if fn := c.refs.described(id); fn != nil {
			r := newReader()
			r.method(scan.Splice(fn, "name", scan.AppendQuoted(nil, method)))
			return r.c, nil
		}
		return nil, nil
	}
	cat, err := c.Describe(ctx, caller)
	if errors.Is(err, wire.ErrUnsupported) {
		return nil, nil
	}
	return cat, err
}

// Leave releases the functions of theirs that we hold.
func (c *codec) Leave(ctx context.Context, caller dialect.Caller) error {
	for _, id := range c.refs.held() {
		params := append(member([]byte{'{'}, dropWords[0], scan.AppendQuoted(nil, id)), '}')
		if err := caller.Notify(ctx, dialect.Op{Kind: dialect.Own, Method: releaseWord, Params: params}); err != nil {
			return err
		}
	}
	return nil
}

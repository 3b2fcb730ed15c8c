package modern

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/server"
	"rpcx/wire/scan"
)

// Methods that need more than a hook.
const (
	callTool     = "tools/call"
	getPrompt    = "prompts/get"
	readResource = "resources/read"
	listen       = "subscriptions/listen"
	progress     = "notifications/progress"
	taskGet      = "tasks/get"
	taskUpdate   = "tasks/update"
	taskCancel   = "tasks/cancel"
)

// removed contains methods that only earlier versions have.
var removed = []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list", "tasks/result"}

// asking contains the methods whose hooks may send requests to the client.
var asking = []string{callTool, getPrompt, readResource}

// A Server answers requests on all connections of a listener.
type Server struct {
	host server.Host
	seal seal
	runs runs

	listeners listeners

	wg sync.WaitGroup // runs that have not ended
}

// New returns a Server for the catalog and the hooks of host.
func New(host server.Host) *Server {
	s := &Server{host: host, seal: newSeal(host.Backend.Host().StateKey)}
	s.runs.wait, s.runs.over = cmp.Or(host.Backend.Host().InputTimeout, DefaultInputTimeout), make(chan struct{})
	return s
}

// End ends all runs.
func (s *Server) End() error {
	close(s.runs.over)
	s.runs.end("")
	s.wg.Wait()
	return nil
}

// A Conn is one connection to the server.
type Conn struct {
	s        *Server
	conn     server.Conn
	identity string // the client's identity, which its runs are bound to
	owned    bool   // runs end when the connection closes
}

// Owns reports whether the caller c is a run.
func (s *Server) Owns(c dialect.Caller) bool {
	_, mine := c.(*run)
	return mine
}

// Open returns the Conn for a connection. It returns nil if the local side is a client.
func (s *Server) Open(c server.Conn) *Conn {
	if !c.Serving {
		return nil
	}
	own := &Conn{s: s, conn: c, identity: c.Caller.Connection().Identity}
	if own.identity == "" {
		own.identity, own.owned = wire.RandomHex(16), true
	}
	return own
}

// Close ends the runs that belong to the connection.
func (c *Conn) Close() {
	if c != nil && c.owned {
		c.s.runs.end(c.identity)
	}
}

// Take answers a request in a version without a handshake. mine is false for other messages. c may be nil.
func (c *Conn) Take(ctx context.Context, in *dialect.Inbound) (result json.RawMessage, mine bool, err error) {
	m := &in.Msg
	if c == nil || m.Kind != wire.Request || !isModern(m.Method, m.Params) {
		return nil, false, nil
	}
	if e := check(m.Params); e != nil {
		c.refused(m.Method, e)
		return nil, true, e
	}
	if slices.Contains(removed, m.Method) {
		err = wire.NewError(wire.CodeNoMethod, "method not found: "+m.Method)
	} else {
		result, err = c.answer(ctx, in)
	}
	if e, ok := errors.AsType[*wire.Error](err); ok && string(e.Code) == "-32002" { // the code for a missing resource in earlier versions
		e = e.Clone()
		e.Code, e.Raw = wire.NewError(wire.CodeInvalidParams, "").Code, nil
		err = e
	}
	return c.complete(m.Method, result), true, err
}

func (c *Conn) answer(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	switch in.Msg.Method {
	case listen:
		return c.listen(ctx, in)
	case taskGet, taskUpdate, taskCancel:
		return c.aboutTask(&in.Msg)
	}
	return c.call(ctx, in)
}

// refused logs a request that was rejected. Over HTTP, the listener has already logged it.
func (c *Conn) refused(method string, e *wire.Error) {
	if warn := c.conn.Caller.Connection().Warn; warn != nil && !c.conn.SingleExchange {
		warn("refused " + wire.Quote(method) + ": " + string(e.Code) + ", " + e.Message)
	}
}

// cached contains the methods whose results say how long, and for whom, they may be cached. The value true marks results from the
// catalog, which is the same for all users. Hooks produce the other results, and may print ttlMs and cacheScope themselves.
var cached = map[string]bool{
	discover: true, "tools/list": true, "prompts/list": false, "resources/list": false, "resources/templates/list": false, readResource: false,
}

// keepFor is how long the catalog may be cached. Listeners also receive a notification when it changes.
const keepFor = 5 * time.Second

// complete adds the members that every result has in versions without a handshake.
func (c *Conn) complete(method string, result json.RawMessage) json.RawMessage {
	if scan.Type(result) != 'o' {
		return result
	}
	kind, _ := scan.Text(scan.Get(result, "resultType"))
	var o scan.Object
	o.Text("resultType", cmp.Or(kind, complete))
	o.Members(result, "resultType", "_meta")
	if ours, ok := cached[method]; ok && kind != inputRequired {
		keep, scope := time.Duration(0), "private"
		if ours {
			keep = keepFor
		}
		if cat := c.conn.Backend.Catalog(); ours && (cat == nil || !cat.Private) {
			scope = "public"
		}
		if scan.Get(result, "ttlMs") == nil {
			o.Int("ttlMs", keep.Milliseconds())
		}
		if scan.Get(result, "cacheScope") == nil {
			o.Text("cacheScope", scope)
		}
	}
	var about scan.Object
	about.Members(scan.Get(result, "_meta"), MetaServer)
	about.Add(MetaServer, c.info())
	o.Add("_meta", about.End())
	return o.End()
}

// info returns the server's name and version.
func (c *Conn) info() []byte {
	name, version := "rpcx serve", c.conn.Codec.Scope().Conn.Version
	if cat := c.conn.Backend.Catalog(); cat != nil {
		name, version = cmp.Or(cat.Info.Name, name), cmp.Or(cat.Info.Version, version)
	}
	var o scan.Object
	o.Text("name", name)
	o.Text("version", version)
	return o.End()
}

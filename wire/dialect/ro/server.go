package ro

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// describe is the method of discovery.
const describe = "rpc.describe"

// server answers on all connections of a listener.
type server struct {
	b    dialect.Backend
	last atomic.Int64 // target of ours
	told func() map[string]*catalog.Method
}

// NewServer returns a server of what b offers. Its hooks are named
// resource:verb and get one object with what the request was about; methods
// that stream, and jobs, are answered at once and then by async results. A
// plain JSON-RPC request is routed by its method, and gets one result, as does
// whoever posts and accepts no event stream.
func NewServer(b dialect.Backend) dialect.Server {
	return &server{b: b, told: sync.OnceValue(func() map[string]*catalog.Method { return byName(b.Catalog()) })}
}

// byName is what a catalog tells of each method, by the name that hooks have.
func byName(c *catalog.Catalog) map[string]*catalog.Method {
	m := map[string]*catalog.Method{}
	if c != nil {
		for i := range c.Methods {
			m[Name(c.Methods[i].Name)] = &c.Methods[i]
		}
	}
	return m
}

// Accept returns the handler for one connection.
func (s *server) Accept(c dialect.Caller) dialect.Handler {
	one, ok := c.(interface{ OneAnswer() bool })
	return &handler{server: s, r: s.b.Bind(c), now: ok && one.OneAnswer()}
}

// Close does nothing: handlers end with their connections.
func (s *server) Close() error { return nil }

// handler answers on one connection.
type handler struct {
	server *server
	r      dialect.Responder
	now    bool // the far side takes no results that come later
}

// Close ends what answers on this connection.
func (h *handler) Close() error { return h.r.Close() }

// Handle answers one request or notification: its rules are checked, then it is
// routed by its method alone.
func (h *handler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	f := readFields(in.Msg.Raw)
	a, rule := f.address(in.Msg.Method)
	note := in.Msg.Kind == wire.Notification
	switch {
	case rule != "":
		return nil, invalid(rule)
	case reserved(a.Verb) && !note:
		return nil, invalid("the verb " + a.Verb + " is reserved for async results, from server to client")
	}
	name := Name(a.Method)
	kind, ok := h.r.Kind(name)
	ok = ok && name != a.Method || ok && !strings.Contains(name, ":") // resource:verb is no name on the wire
	req := dialect.Request{
		Method: name, Params: in.Msg.Params, ID: in.Msg.ID, Notification: note,
		Input: func(params json.RawMessage) json.RawMessage { return f.input(a, params) },
		Emit:  func(wire.Event) error { return nil },
	}
	switch {
	case !ok && a.Method == describe && h.server.b.Catalog() != nil:
		return Description(h.server.b.Catalog()), nil
	case !ok:
		return nil, h.unknown(a)
	case note:
		req.Stream = kind == catalog.Stream
		return h.respond(ctx, a, req)
	case (kind == catalog.Stream || kind == catalog.Job) && f.structured() && !h.now:
		return nil, h.later(ctx, in, a, req, kind)
	}
	return h.once(ctx, in, a, req)
}

// respond answers, with a refusal of the policy in the words of this dialect.
func (h *handler) respond(ctx context.Context, a Address, req dialect.Request) (json.RawMessage, error) {
	result, err := h.r.Respond(ctx, req)
	if e := refusal(err); e != nil {
		data := map[string]string{"resource": a.Resource, "verb": a.Verb}
		if a.Subresource != "" {
			data["subresource"] = a.Subresource
		}
		if a.Resource == "" {
			data = map[string]string{"method": a.Method}
		}
		return nil, wire.NewError(wire.CodeRefused, "forbidden").WithData(data)
	}
	return result, err
}

// refusal is err where it is the policy's.
func refusal(err error) *wire.Error {
	if e, ok := err.(*wire.Error); ok && e.Kind == dialect.ByPolicy {
		return e
	}
	return nil
}

// once answers with one result, beside which stands how long it may be kept.
func (h *handler) once(ctx context.Context, in *dialect.Inbound, a Address, req dialect.Request) (json.RawMessage, error) {
	var last json.RawMessage
	req.Emit = func(ev wire.Event) error {
		if ev.Kind == wire.Data {
			last = ev.Data
		}
		return nil
	}
	result, err := h.respond(ctx, a, req)
	if result == nil {
		result = last
	}
	m := h.method(a)
	if err != nil || m == nil || scan.Type(m.Cache) != 'o' || len(m.Cache) <= 2 {
		return result, err
	}
	in.Answered = true
	extra := append(append([]byte(`{"cache":`), m.Cache...), '}')
	return nil, in.Emit(wire.Event{Kind: wire.Data, Final: true, Data: result, Extra: extra})
}

// method is what we tell of a's method; nil for nothing.
func (h *handler) method(a Address) *catalog.Method { return h.server.told()[Name(a.Method)] }

// unknown is the answer to a method that we do not have.
func (h *handler) unknown(a Address) error {
	e := wire.Errorf(wire.CodeNoMethod, "method not found: %s", a.Method)
	c := h.server.b.Catalog()
	if c == nil {
		return e
	}
	if near := catalog.Nearest(a.Method, c.Names()); near != "" {
		return e.WithData(map[string]string{"nearest": near})
	}
	return e
}

// input is what a hook gets: what the request was about and its params, with
// the members that it had.
func (f *fields) input(a Address, params json.RawMessage) json.RawMessage {
	var b []byte
	add := func(name string, val []byte) {
		if val != nil {
			b = append(append(append(append(b, `,"`...), name...), `":`...), val...)
		}
	}
	add("resource", value(a.Resource))
	add("verb", value(a.Verb))
	add("subresource", value(a.Subresource))
	add("target", f.target)
	add("parent", f.parent)
	add("params", params)
	add("meta", f.meta)
	add("cache", f.cache)
	if f.result != nil { // an async result that no call of ours asked for
		add("result", f.result)
	}
	if f.requestID != nil {
		add("request_id", f.requestID)
	}
	if b == nil {
		return json.RawMessage(`{}`)
	}
	b[0] = '{'
	return append(b, '}')
}

// resourceOf is the resource that a is about, with its subresource.
func resourceOf(a Address) string { return strings.TrimSuffix(a.Method, "."+a.Verb) }

package ro

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// describe is the method that requests a catalog.
const describe = "rpc.describe"

// server is the answering side. All connections of a listener share it.
type server struct {
	b       dialect.Backend
	last    atomic.Int64 // the last generated target
	methods func() map[string]*catalog.Method
}

// NewServer returns a server for the methods of b. Hooks have names such as resource:verb and receive one object with
// the request's fields. Streaming methods and jobs are accepted at once and answered later with async results. A plain
// JSON-RPC request is routed by its method and gets one result, as does a request of an HTTP client that accepts no
// event stream.
func NewServer(b dialect.Backend) dialect.Server {
	s := &server{b: b, methods: sync.OnceValue(func() map[string]*catalog.Method { return byName(b.Catalog()) })}
	return dialect.Server{Accept: s.Accept}
}

// byName indexes a catalog's methods by their names for hooks.
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
	h := &handler{server: s, r: s.b.Bind(c), now: c.Connection().SingleResponse}
	return dialect.Handler{Handle: h.Handle, Close: h.r.Close}
}

type handler struct {
	server *server
	r      dialect.Responder
	now    bool // the peer cannot receive later results
}

// Handle answers one request or notification. It checks the rules of the specification and then routes by the method,
// because the fields must agree with it.
func (h *handler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	f := readFields(in.Msg.Raw)
	note := in.Msg.Kind == wire.Notification
	a, err := f.addressed(in.Msg.Method, note)
	if err != nil {
		return nil, err
	}
	name := Name(a.Method)
	kind, ok := h.r.Kind(name)
	ok = ok && (name != a.Method || !strings.Contains(name, ":")) // resource:verb is not a wire name
	req := dialect.Request{
		Method: name, Params: in.Msg.Params, ID: in.Msg.ID, Notification: note,
		Input: func(params json.RawMessage) json.RawMessage { return f.input(a, params) },
		Emit:  func(wire.Event) error { return nil },
	}
	switch {
	case a.Method == describe && (!ok && h.server.b.Catalog() != nil || dialect.Describes(h.server.b, h.r, name)):
		return Description(h.server.b.Catalog()), nil
	case !ok:
		return nil, dialect.Unknown(h.server.b, a.Method)
	case note:
		req.Stream = kind == catalog.Stream
		return h.respond(ctx, a, req)
	case f.structured() && !h.now && h.hasMore(a, kind):
		return nil, h.answerLater(ctx, in, a, req, kind)
	case kind == catalog.Stream:
		gathered := dialect.Gather(&req, wire.DefaultMaxMessage)
		return gathered(h.respond(ctx, a, req))
	}
	return h.answerOnce(ctx, in, a, req)
}

// respond runs the hook. If the policy denies the call, the error is the dialect's "forbidden" with the resource and
// the verb.
func (h *handler) respond(ctx context.Context, a Address, req dialect.Request) (json.RawMessage, error) {
	result, err := h.r.Respond(ctx, req)
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Kind == dialect.ByPolicy {
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

// answerOnce answers with one result and, beside it, the method's "cache" from the catalog.
func (h *handler) answerOnce(ctx context.Context, in *dialect.Inbound, a Address, req dialect.Request) (json.RawMessage, error) {
	respond := func(ctx context.Context, req dialect.Request) (json.RawMessage, error) { return h.respond(ctx, a, req) }
	result, err := dialect.LastOf(ctx, respond, req, nil)
	m := h.method(a)
	if err != nil || m == nil || scan.Type(m.Cache) != 'o' || len(m.Cache) <= 2 {
		return result, err
	}
	in.Answered = true
	extra := scan.Pair("cache", m.Cache)
	return nil, in.Emit(wire.Event{Kind: wire.Data, Final: true, Data: result, Extra: extra})
}

// hasMore reports whether a method has later results: it is a job, or the catalog declares it a stream.
func (h *handler) hasMore(a Address, kind catalog.Kind) bool {
	m := h.method(a)
	return kind == catalog.Job || kind == catalog.Stream && m != nil && m.Kind != ""
}

// method returns the catalog's entry for a's method, or nil.
func (h *handler) method(a Address) *catalog.Method { return h.server.methods()[Name(a.Method)] }

// input returns the JSON object that a hook receives: the request's fields and params.
func (f *fields) input(a Address, params json.RawMessage) json.RawMessage {
	var o scan.Object
	o.SomeText("resource", a.Resource)
	o.SomeText("verb", a.Verb)
	o.SomeText("subresource", a.Subresource)
	o.Add("target", f[fieldTarget])
	o.Add("parent", f[fieldParent])
	o.Add("params", params)
	for _, i := range []int{fieldMeta, fieldCache, fieldResult, fieldRequestID} { // the last two are those of an async result without a local call
		o.Add(fieldNames[i], f[i])
	}
	return o.End()
}

// resourceOf returns the dotted name of a's resource with its subresource.
func resourceOf(a Address) string { return strings.TrimSuffix(a.Method, "."+a.Verb) }

// Reply returns the messages for one event of the answer to req. An event with a Stream becomes an async result, and a
// return if it is Final. Extra then contains the members beside the async result. For other events, Extra contains the
// members beside the response's result.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	if ev.Stream != nil {
		return [][]byte{encodeAsyncResult(ev)}, nil
	}
	msgs, err := c.Codec.Reply(req, ev)
	if err == nil && len(msgs) == 1 && ev.Kind == wire.Data && ev.Extra != nil {
		var o scan.Object
		o.Inside(msgs[0])
		o.Inside(ev.Extra)
		msgs[0] = o.End()
	}
	return msgs, err
}

func encodeAsyncResult(ev wire.Event) []byte {
	verb := verbYield
	if ev.Final {
		verb = verbReturn
	}
	resource, _ := scan.Text(scan.Get(ev.Extra, "resource"))
	var o scan.Object
	o.Text("jsonrpc", "2.0")
	o.Text("method", resource+"."+verb)
	o.Text("resource", resource)
	o.Text("verb", verb)
	o.Compact("target", scan.Get(ev.Extra, "target"))
	o.Compact("result", ev.Data)
	o.Compact("request_id", scan.Get(ev.Extra, "request_id"))
	return o.End()
}

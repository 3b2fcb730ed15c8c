package introspect

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// server is the answering side. All connections of a listener share it.
type server struct {
	b       dialect.Backend
	plain   dialect.Server // answers calls to a client, for which the protocol has no messages
	modules func() *moduleCatalog
}

// NewServer returns a server for the methods of b. Each method answers with a stream; service_schema,
// service_module_schema and service_hash describe the methods (Introspective Streaming RPC, section 3). Without a
// catalog, b belongs to a client, whose responses are plain JSON-RPC.
func NewServer(b dialect.Backend) dialect.Server {
	s := &server{
		b: b, plain: jsonrpc.NewServer(b),
		modules: sync.OnceValue(func() *moduleCatalog { return newModuleCatalog(b.Catalog()) }),
	}
	return dialect.Server{Accept: s.Accept}
}

// Accept returns the handler for one connection.
func (s *server) Accept(c dialect.Caller) dialect.Handler {
	if s.b.Catalog() == nil {
		return s.plain.Accept(c)
	}
	h := &handler{server: s, r: s.b.Bind(c)}
	return dialect.Handler{Handle: h.Handle, Close: h.r.Close}
}

// handler answers the calls of one connection and stores its open streams.
type handler struct {
	server  *server
	r       dialect.Responder
	streams sync.Map // the *streamWriter by the token of its subscription id
}

// Handle answers one request or notification.
func (h *handler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	method := WireName(in.Msg.Method)
	if in.Msg.Kind == wire.Notification {
		if _, ok := h.r.Kind(method); !ok {
			return nil, wire.Errorf(wire.CodeNoMethod, "method not found: %s", method)
		}
		return h.r.Respond(ctx, dialect.Request{
			Method: method, Params: unwrapped(in.Msg.Params, nil), Notification: true,
			Emit: func(wire.Event) error { return nil },
		})
	}
	if answer, mine := h.unsubscribe(method, in.Msg.Params); mine {
		return answer, nil
	}
	in.Answered = true
	return nil, h.stream(ctx, in, method)
}

// stream answers a call with a subscription id, the call's events, and done. It sends done exactly once, also after an
// error.
func (h *handler) stream(ctx context.Context, in *dialect.Inbound, method string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := newStreamWriter(h.server.modules(), method, in.Emit, cancel)
	h.streams.Store(string(out.id), out)
	defer h.streams.Delete(string(out.id))
	if err := in.Emit(wire.Event{Kind: wire.Opened, Stream: out.id}); err != nil {
		return err
	}
	if err := h.answer(ctx, in, method, out); err != nil && !out.failed() {
		if err := out.fail(h.server.modules().guided(err, method, out.items), err); err != nil {
			return err
		}
	}
	return out.done()
}

// answer runs one call and writes its events to out.
func (h *handler) answer(ctx context.Context, in *dialect.Inbound, method string, out *streamWriter) error {
	modules := h.server.modules()
	service := method == schemaMethod || method == moduleSchemaMethod || method == hashMethod
	if service && h.r.Denied(method) {
		return wire.NewError(wire.CodeRefused, "refused by policy")
	}
	switch method {
	case schemaMethod:
		return out.data("service.schema", modules.list())
	case moduleSchemaMethod:
		return h.moduleSchema(in.Msg.Params, out)
	case hashMethod:
		return out.data("service.hash", scan.Pair("hash", scan.AppendQuoted(nil, modules.hash)))
	}
	if _, ok := h.r.Kind(method); !ok {
		return modules.unknown(method)
	}
	entry := cmp.Or(modules.catalog.Method(method), &catalog.Method{})
	r := dialect.Request{Method: method, Params: unwrapped(in.Msg.Params, entry.Params), ID: in.Msg.ID, Emit: out.event}
	if r.Stream = entry.Kind == "" || entry.Kind == catalog.Stream; r.Stream {
		_, err := h.r.Respond(ctx, r)
		return err
	}
	result, err := dialect.LastOf(ctx, h.r.Respond, r, out.event)
	if err != nil {
		return err
	}
	return out.event(wire.Event{Kind: wire.Data, Data: result})
}

// moduleSchema answers service_module_schema.
func (h *handler) moduleSchema(params json.RawMessage, out *streamWriter) error {
	given := unwrapped(params, nil)
	name := scan.String(scan.Or(scan.Get(given, "namespace"), scan.First(given)))
	m := h.server.modules().module(name)
	switch {
	case name == "":
		return wire.NewError(wire.CodeInvalidParams, "the namespace of a module is missing")
	case m == nil:
		return noModule(name)
	}
	return out.data("service.module_schema", m.schema())
}

// unwrapped returns params in the form for hooks: [{…}] becomes the object, and [] an empty object. If the schema
// requires an array, the params stay an array.
func unwrapped(params, schema json.RawMessage) json.RawMessage {
	if scan.Type(params) != 'a' {
		return params
	}
	if scan.String(scan.Get(schema, "type")) == "array" {
		return params
	}
	if scan.Count(params) == 0 {
		return json.RawMessage("{}")
	}
	if sole := scan.Only(params); scan.Type(sole) == 'o' {
		return sole
	}
	return params
}

// unsubscribe ends a stream of this connection and reports whether the stream existed. mine is false for any other
// method.
func (h *handler) unsubscribe(method string, params json.RawMessage) (answer json.RawMessage, mine bool) {
	stream, _ := h.streams.Load(string(jsonrpc.SubscriptionIn(unwrapped(params, nil))))
	out, ok := stream.(*streamWriter)
	switch {
	case ok && (method == unsubscribeMethod || jsonrpc.Ends(method, out.method)):
		return strconv.AppendBool(nil, out.end()), true
	case method == unsubscribeMethod:
		return json.RawMessage("false"), true
	}
	return nil, false
}

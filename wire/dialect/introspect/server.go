package introspect

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// server answers on all connections of a listener.
type server struct {
	b     dialect.Backend
	plain dialect.Server // for a client's role, where the protocol has no calls
	offer func() *offer
}

// NewServer returns a server of what b offers: every method answers with a
// stream, and service_schema, service_module_schema and service_hash tell of
// them. Where b tells no catalog, we are the client: calls are then answered as
// in JSON-RPC.
func NewServer(b dialect.Backend) dialect.Server {
	return &server{
		b: b, plain: jsonrpc.NewServer(jsonrpc.V2, b),
		offer: sync.OnceValue(func() *offer { return newOffer(b.Catalog()) }),
	}
}

// Accept returns the handler for one connection.
func (s *server) Accept(c dialect.Caller) dialect.Handler {
	if s.b.Catalog() == nil {
		return s.plain.Accept(c)
	}
	return &handler{server: s, r: s.b.Bind(c), streams: map[string]*outlet{}}
}

// Close does nothing: handlers end with their connections.
func (s *server) Close() error { return s.plain.Close() }

// handler answers on one connection.
type handler struct {
	server *server
	r      dialect.Responder

	mu      sync.Mutex
	streams map[string]*outlet // by id token
}

// Close ends what answers on this connection.
func (h *handler) Close() error { return h.r.Close() }

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

// stream answers with a subscription's id, then what comes of the call, then
// done, once, whatever came before it.
func (h *handler) stream(ctx context.Context, in *dialect.Inbound, method string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := newOutlet(h.server.offer(), method, in.Emit, cancel)
	h.mu.Lock()
	h.streams[string(out.id)] = out
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.streams, string(out.id))
		h.mu.Unlock()
	}()
	if err := in.Emit(wire.Event{Kind: wire.Opened, Stream: out.id}); err != nil {
		return err
	}
	if err := h.answer(ctx, in, method, out); err != nil && !out.failed() {
		if err := out.fail(h.server.offer().guided(err, method, out.some()), err); err != nil {
			return err
		}
	}
	return out.done()
}

// A denier is a responder with a policy, which holds for what we answer
// ourselves, too.
type denier interface{ Denied(method string) bool }

// answer runs one call.
func (h *handler) answer(ctx context.Context, in *dialect.Inbound, method string, out *outlet) error {
	offer := h.server.offer()
	switch policy, _ := h.r.(denier); {
	case method != schemaMethod && method != moduleSchemaMethod && method != hashMethod:
	case policy != nil && policy.Denied(method):
		return wire.NewError(wire.CodeRefused, "refused by policy")
	}
	switch method {
	case schemaMethod:
		return out.data("service.schema", offer.list())
	case moduleSchemaMethod:
		return h.moduleSchema(in.Msg.Params, out)
	case hashMethod:
		return out.data("service.hash", json.RawMessage(`{"hash":"`+offer.hash+`"}`))
	}
	if _, ok := h.r.Kind(method); !ok {
		return offer.unknown(method)
	}
	entry := offer.catalog.Method(method)
	r := dialect.Request{Method: method, Params: unwrapped(in.Msg.Params, entry), ID: in.Msg.ID, Emit: out.event}
	if r.Stream = entry == nil || entry.Kind == "" || entry.Kind == catalog.Stream; r.Stream {
		_, err := h.r.Respond(ctx, r)
		return err
	}
	var last json.RawMessage
	r.Emit = func(ev wire.Event) error {
		if ev.Kind == wire.Data {
			last = ev.Data
			return nil
		}
		return out.event(ev)
	}
	result, err := h.r.Respond(ctx, r)
	if result == nil {
		result = last
	}
	if err != nil {
		return err
	}
	return out.event(wire.Event{Kind: wire.Data, Data: result})
}

// moduleSchema answers service_module_schema.
func (h *handler) moduleSchema(params json.RawMessage, out *outlet) error {
	name := ""
	switch first := unwrapped(params, nil); scan.Type(first) {
	case 'o':
		name, _ = scan.Text(scan.Get(first, "namespace"))
	case 'a':
		in := scan.Array(first, wire.DefaultMaxDepth)
		_, val, _ := in.Next()
		name, _ = scan.Text(val)
	}
	m := h.server.offer().module(name)
	switch {
	case name == "":
		return wire.NewError(wire.CodeInvalidParams, "the namespace of a module is missing")
	case m == nil:
		return noModule(name)
	}
	return out.data("service.module_schema", m.schema())
}

// unwrapped is params as hooks get them: of [{…}] the object, of [] an empty
// one. Where entry, which may be nil, says that they are an array, they stay
// one.
func unwrapped(params json.RawMessage, entry *catalog.Method) json.RawMessage {
	if scan.Type(params) != 'a' {
		return params
	}
	if kind, _ := scan.Text(scan.Get(entryParams(entry), "type")); kind == "array" {
		return params
	}
	in := scan.Array(params, wire.DefaultMaxDepth)
	_, first, ok := in.Next()
	if !ok {
		return json.RawMessage("{}")
	}
	if _, _, more := in.Next(); more || scan.Type(first) != 'o' {
		return params
	}
	return first
}

func entryParams(entry *catalog.Method) json.RawMessage {
	if entry == nil {
		return nil
	}
	return entry.Params
}

// unsubscribe ends a stream of this connection. mine is false for what is no
// unsubscribe method of ours.
func (h *handler) unsubscribe(method string, params json.RawMessage) (answer json.RawMessage, mine bool) {
	in := scan.Array(params, wire.DefaultMaxDepth)
	_, id, _ := in.Next()
	if scan.Type(params) == 'o' {
		id = scan.Get(params, "subscription")
	}
	if scan.Type(id) == 'o' { // wrapped
		id = scan.Get(id, "subscription")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.streams[string(id)]
	switch {
	case out != nil && (method == unsubscribeMethod || jsonrpc.Ends(method, out.method)):
		out.end()
		return json.RawMessage("true"), true
	case method == unsubscribeMethod:
		return json.RawMessage("false"), true
	}
	return nil, false
}

// newID is a stream's id, which nobody guesses.
func newID() wire.ID {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return wire.ID(`"sub_` + hex.EncodeToString(b[:]) + `"`)
}

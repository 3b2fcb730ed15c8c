// Package server answers requests as a dialect file defines: with hooks, and with programs that convert the params or the
// catalog. A server uses it for requests from its clients, and a client for requests from its server.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// server serves all connections of a listener, or the only connection of a client.
type server struct {
	d      *codec.Dialect
	b      dialect.Backend
	native Native                                       // the zero value if the dialect file has no flow
	offers func() (doc json.RawMessage, names []string) // returns the catalog as JSON and the names of its methods

	warned sync.Map // the programs whose failures were reported to the user
}

// New returns a server for the dialect d, with the catalog and the hooks of b. native returns the native part; it is
// nil if there is none.
func New(d *codec.Dialect, b dialect.Backend, native func(Host) Native) dialect.Server {
	s := &server{d: d, b: b}
	s.offers = s.describe()
	if native != nil {
		s.native = native(Host{b, s.Accept})
	}
	return dialect.Server{Accept: s.Accept, Gets: s.Gets, Posts: s.native.Posts, End: s.native.End, Changed: s.native.Changed}
}

// Accept returns the handler for one connection. It first sends the dialect file's hello, if any.
func (s *server) Accept(c dialect.Caller) dialect.Handler {
	about := c.Connection()
	h := &handler{server: s, flow: NoFlow{}, ongoing: map[*ongoing]bool{}}
	h.Conn = Conn{Codec: about.Codec.(*codec.Codec), Caller: c, Backend: s.b, Responder: s.b.Bind(c), SingleExchange: about.SingleExchange}
	if h.Serving = h.Codec.Serving(); h.Serving {
		h.Codec.Offer(s.offers)
		h.warn(s.d.CancelFails())
	}
	if s.native.Open != nil {
		h.flow = s.native.Open(h.Conn)
	}
	if hello := s.d.Page.Write.Hello; hello != nil && h.Serving {
		msg, err := hello.First(nil, h.scope().Value)
		if h.warn(err); err == nil {
			_ = c.Notify(context.Background(), dialect.Op{Kind: dialect.Raw, Params: msg})
		}
	}
	return dialect.Handler{Handle: h.Handle, Close: h.keepAlive(), Ignores: h.Ignores, Starts: h.Starts}
}

// release ends everything that the connection has started.
func (h *handler) release() error {
	h.flow.Close()
	return h.Responder.Close()
}

type handler struct {
	*server
	Conn
	flow Flow

	mu      sync.Mutex
	ongoing map[*ongoing]bool
	endings []ending // the latest messages that end calls or streams, oldest first

	opened opened
}

// scope returns the variables of the connection.
func (h *handler) scope() *program.Scope {
	sc := h.Codec.Scope()
	if !h.Serving {
		sc.Catalog, _ = h.offers()
	}
	return sc
}

// of returns the variables for one request.
func (h *handler) of(m *wire.Message) *program.Scope {
	return h.d.MessageScope(h.scope(), m)
}

// Handle answers one request or notification.
func (h *handler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	result, err := h.handle(ctx, in)
	if err == nil {
		sc := h.of(&in.Msg)
		sc.Result = result
		h.started(in, sc)
	}
	h.started(in, nil)
	if in.Answered { // the response was sent, so it cannot contain this error
		h.warn(err)
	}
	if in.Msg.Kind == wire.Request {
		err = h.public(err)
	}
	return result, err
}

func (h *handler) handle(ctx context.Context, in *dialect.Inbound) (result json.RawMessage, err error) {
	if result, mine, err := h.flow.Take(ctx, in); mine {
		return result, err
	}
	if h.Serving && in.Msg.Err == nil && slices.Contains(h.d.Page.Serve.Close, in.Msg.Method) {
		defer h.close()
	}
	entered, refused := false, false
	defer func() { h.Codec.Entered(&in.Msg, entered) }()
	request := in.Msg.Kind == wire.Request
	switch early := h.early(ctx, &in.Msg); {
	case early != nil:
		return nil, early
	case !request:
		defer h.after(&in.Msg)
		err = h.notified(ctx, in, func() { refused = true })
	default:
		if result, err = h.Codec.Answer(ctx, &in.Msg, func(ctx context.Context) (json.RawMessage, error) { return h.answer(ctx, in) }); err == nil {
			err = h.keep(&in.Msg)
		}
	}
	if err != nil || !h.Serving || refused {
		return result, err
	}
	if in.Msg.Method == h.d.Page.Serve.First {
		entered = true
		h.handshakeDone()
	}
	rule, follows := h.d.Page.Serve.Then[in.Msg.Method]
	switch {
	case !follows || in.Answered:
		return result, nil
	case request:
		in.Answered = true
		return nil, errors.Join(in.Emit(wire.Event{Kind: wire.Data, Final: true, Data: result}), h.then(ctx, &in.Msg, &rule))
	}
	return nil, h.then(ctx, &in.Msg, &rule)
}

// answer answers a request in the first way that applies: as a wrapped call, with the hook of that exact name, with the flow, as the
// end of a stream, with what the dialect file defines, or with a hook whose name is a pattern.
func (h *handler) answer(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	method := in.Msg.Method
	kind, hooked := h.Responder.Kind(method)
	exact := hooked && h.exact(method)
	if rule, ok := h.d.Page.Serve.Calls[method]; ok && h.Serving {
		name, err := rule.Method.First(in.Msg.Params, h.of(&in.Msg).Value)
		if err != nil {
			return nil, err
		}
		if !exact || scan.String(name) == method {
			return h.wrapped(ctx, in, &rule, name)
		}
	}
	if exact {
		return h.call(ctx, in, kind)
	}
	if result, mine, err := h.flow.Answer(ctx, &in.Msg); mine {
		return result, err
	}
	if result, mine, err := h.byPage(ctx, in); mine || err != nil {
		return result, err
	}
	if hooked {
		return h.call(ctx, in, kind)
	}
	if h.Serving && method == h.d.Page.Serve.First {
		return json.RawMessage("{}"), nil
	}
	return nil, h.unknown(wire.CodeNoMethod, "method not found: "+method, method)
}

// byPage answers a request that the dialect file defines: for a stream of other hooks, for the end of a stream, or for a result
// that a program makes.
func (h *handler) byPage(ctx context.Context, in *dialect.Inbound) (result json.RawMessage, mine bool, err error) {
	if mine, err := h.hooked(ctx, in); mine {
		return nil, true, err
	}
	answers := h.d.Page.Answers
	if h.Serving {
		answers = h.d.Page.Serve.Answers
		if mine, err = h.endOf(in); err != nil {
			return nil, true, err
		}
	}
	if prog, ok := answers[in.Msg.Method]; ok {
		result, err = prog.First(in.Msg.Params, h.of(&in.Msg).Value)
		return result, true, err
	}
	return json.RawMessage("{}"), mine, nil
}

// exact reports whether there is a hook with exactly that name.
func (h *handler) exact(method string) bool {
	if h.Serving {
		_, names := h.offers()
		return slices.Contains(names, method)
	}
	return slices.Contains(h.Codec.Scope().Conn.Hooks, method)
}

// unknown returns the error for a method that no hook answers. Its data contains the most similar name, if any.
func (h *handler) unknown(code int, message, name string) error {
	_, names := h.offers()
	return dialect.WithNearest(wire.NewError(code, message), name, names)
}

// vars returns the environment variables for the hook of m.
func (h *handler) vars(m *wire.Message) map[string]string {
	vars := h.Caller.Connection().Vars
	if extra := h.d.Plan().Extra(m.Raw, h.scope()); extra != nil {
		vars = maps.Clone(vars)
		wire.Put(&vars, "RPCX_EXTRA", string(extra))
	}
	return vars
}

// notified passes a notification to its hook, and calls refused if the hook fails. A notification that the dialect file uses does not need
// a hook.
func (h *handler) notified(ctx context.Context, in *dialect.Inbound, refused func()) error {
	method := in.Msg.Method
	if h.stops(method) {
		h.warn(h.end(in, false))
	}
	if err := h.keep(&in.Msg); err != nil {
		return err
	}
	if kind, ok := h.Responder.Kind(method); ok {
		_, err := h.Responder.Respond(ctx, dialect.Request{
			Method: method, Params: in.Msg.Params, Notification: true, Refused: refused, Claimed: in.Msg.Claimed, Vars: h.vars(&in.Msg),
			Stream: kind == catalog.Stream, Emit: func(wire.Event) error { return nil },
		})
		return err
	}
	if h.Serving {
		if mine, err := h.ends(in); mine || err != nil {
			return err
		}
		if h.stops(method) || slices.ContainsFunc(h.d.Page.Serve.Silent, func(p string) bool { return dialect.Matches(p, method) }) {
			return nil
		}
	} else if h.d.Notifies(method) {
		return nil
	}
	return wire.Errorf(wire.CodeNoMethod, "method not found: %s", method)
}

// Ignores reports whether a notification has no effect. On a server, every notification may have an effect, because the dialect file
// may store its values.
func (h *handler) Ignores(method string) bool {
	if h.Serving || h.d.Notifies(method) || slices.ContainsFunc(h.d.Page.After, func(a load.After) bool { return a.Event == method }) {
		return false
	}
	_, hooked := h.Responder.Kind(method)
	return !hooked
}

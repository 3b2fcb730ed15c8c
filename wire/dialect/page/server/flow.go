package server

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
)

// A Conn is a connection of a server.
type Conn struct {
	Codec          *codec.Codec // may be nil
	Caller         dialect.Caller
	Backend        dialect.Backend
	Responder      dialect.Responder
	Serving        bool // the local side is the server
	SingleExchange bool // the connection is one HTTP exchange without a handshake
}

// A Host is the environment of a server's native part.
type Host struct {
	Backend dialect.Backend
	Accept  func(c dialect.Caller) dialect.Handler // returns the handler of a new connection, as the dialect file defines it
}

// A Native is the Go part of a server. All connections share it.
type Native struct {
	Open    func(c Conn) Flow // returns the part of one connection, or nil
	Posts   *wire.HTTPPosts   // nil if the dialect file defines them completely
	Changed func()            // notifies clients of a new catalog; may be nil
	End     func() error      // ends work that outlives connections; may be nil
}

// A Flow is the native part of one connection on the answering side (see codec.Native).
type Flow interface {
	// Take answers a request before the dialect file's rules. mine is false for other requests.
	Take(ctx context.Context, in *dialect.Inbound) (result json.RawMessage, mine bool, err error)
	// Close runs at the end of the connection, before its hooks end.
	Close()
	// Begin makes work of a request for a hook, if the peer wants that, and answers the request. carried is the call in the request,
	// or "". stop ends the hook. Without Work, the hook's result is the response.
	Begin(in *dialect.Inbound, carried string, stop context.CancelFunc) (Work, error)
	// Answer answers the flow's own calls. mine is false for other calls.
	Answer(ctx context.Context, m *wire.Message) (result json.RawMessage, mine bool, err error)
}

// A Work is a request that is answered before the end of its hook.
type Work interface {
	// Emitted receives each event of the hook.
	Emitted(ev wire.Event)
	// Mark returns the params of a notification with a reference to the work.
	Mark(params json.RawMessage) json.RawMessage
	// End receives the outcome of the hook.
	End(ctx context.Context, result json.RawMessage, err error)
}

// begin lets the flow make work of a request. It returns nil if the flow does not.
func (h *handler) begin(in *dialect.Inbound, carried string, stop context.CancelFunc) (Work, error) {
	if h.flow == nil {
		return nil, nil
	}
	return h.flow.Begin(in, carried, stop)
}

// ended returns the response to a request after its hook. It returns nil if the request has become work.
func ended(ctx context.Context, in *dialect.Inbound, w Work, result json.RawMessage, err error) (json.RawMessage, error) {
	if w == nil {
		return result, err
	}
	in.Answered = true
	w.End(ctx, result, err)
	return nil, nil
}

// exactly answers a request with the hook of the same name.
func (h *handler) exactly(ctx context.Context, in *dialect.Inbound, kind catalog.Kind) (json.RawMessage, error) {
	if h.flow == nil {
		return h.call(ctx, in, kind)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := h.begin(in, "", cancel)
	switch {
	case err != nil:
		return nil, err
	case w == nil:
		return h.call(ctx, in, kind)
	}
	result, err := h.respondAs(ctx, &in.Msg, dialect.Request{Method: in.Msg.Method, Params: in.Msg.Params, ID: in.Msg.ID, Vars: h.vars(&in.Msg)}, w, nil)
	return ended(ctx, in, w, result, h.public(err))
}

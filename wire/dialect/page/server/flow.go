package server

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
)

// A Conn is a connection whose requests are answered.
type Conn struct {
	Codec          *codec.Codec // nil means the caller does not show it
	Caller         dialect.Caller
	Backend        dialect.Backend
	Responder      dialect.Responder
	Serving        bool // we are the server
	SingleExchange bool // the connection is one HTTP exchange, before which there was no greeting
}

// A Host is what the native part of a server has.
type Host struct {
	Backend dialect.Backend
	Accept  func(c dialect.Caller) dialect.Handler // answers requests of one more connection, as the dialect file says
}

// A Native is the part of a server in Go, which all its connections share.
type Native struct {
	Open    func(c Conn) Flow // returns the part of one connection; nil: it has none
	Posts   *wire.HTTPPosts   // nil: the dialect file says all about them
	Changed func()            // tells clients that the catalog has changed; nil means none can be told
	End     func() error      // ends what outlives connections; nil: nothing does
}

// A Flow is the native part of a connection that answers the peer (see codec.Native).
type Flow interface {
	// Take answers a request that the dialect file has no rules for; mine is false for any other. It comes first.
	Take(ctx context.Context, in *dialect.Inbound) (result json.RawMessage, mine bool, err error)
	// Close is called when the connection ends, before its hooks are ended.
	Close()
	// Begin makes work of a request that a hook is about to answer, if the peer wants that, and
	// answers the request. carried is the call that the request carries; "" means none. stop ends the
	// hook. Without Work it is answered by the hook's result.
	Begin(in *dialect.Inbound, carried string, stop context.CancelFunc) (Work, error)
	// Answer answers a call of the flow's own; mine is false for any other call.
	Answer(ctx context.Context, m *wire.Message) (result json.RawMessage, mine bool, err error)
}

// Work is a request that was answered before its hook has.
type Work interface {
	// Emitted is called with each event of the hook.
	Emitted(ev wire.Event)
	// Mark returns the params of a notification with what says that it is about the work.
	Mark(params json.RawMessage) json.RawMessage
	// End is called with what the hook has answered.
	End(ctx context.Context, result json.RawMessage, err error)
}

// begin lets the flow make work of a request. It returns nil if there is none.
func (h *handler) begin(in *dialect.Inbound, carried string, stop context.CancelFunc) (Work, error) {
	if h.flow == nil {
		return nil, nil
	}
	return h.flow.Begin(in, carried, stop)
}

// ended returns the answer to a request whose hook has answered. nil if it has
// become work.
func ended(ctx context.Context, in *dialect.Inbound, w Work, result json.RawMessage, err error) (json.RawMessage, error) {
	if w == nil {
		return result, err
	}
	in.Answered = true
	w.End(ctx, result, err)
	return nil, nil
}

// exactly answers a request by the hook of its name.
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
	result, err := h.respondAs(ctx, &in.Msg, dialect.Request{Method: in.Msg.Method, Params: in.Msg.Params, ID: in.Msg.ID, Vars: h.vars(&in.Msg)}, w)
	return ended(ctx, in, w, result, h.public(err))
}

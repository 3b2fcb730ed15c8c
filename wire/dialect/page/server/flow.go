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
	Codec          *codec.Codec // nil: the caller does not expose it
	Caller         dialect.Caller
	Backend        dialect.Backend
	Responder      dialect.Responder
	Serving        bool // the local side is the server
	SingleExchange bool // the connection is one HTTP exchange without a handshake
}

// A Host is the environment of a server's native part.
type Host struct {
	Backend dialect.Backend
	Accept  func(c dialect.Caller) dialect.Handler // answers the requests of a new connection as the dialect file specifies
}

// A Native is the Go part of a server, which all its connections share.
type Native struct {
	Open    func(c Conn) Flow // returns the part of one connection, or nil
	Posts   *wire.HTTPPosts   // nil: the dialect file defines them completely
	Changed func()            // notifies clients that the catalog has changed; nil: no client can be notified
	End     func() error      // ends work that continues after connections; nil: none
}

// A Flow is the native part of a connection that answers the peer (see codec.Native).
type Flow interface {
	// Take answers a request that the dialect file has no rules for, and runs first; mine is false for any other request.
	Take(ctx context.Context, in *dialect.Inbound) (result json.RawMessage, mine bool, err error)
	// Close is called when the connection ends, before its hooks end.
	Close()
	// Begin turns a request that a hook is about to answer into work, if the peer wants that, and answers the request. carried is the
	// call that the request carries, or "". stop ends the hook. Without Work, the hook's result answers the request.
	Begin(in *dialect.Inbound, carried string, stop context.CancelFunc) (Work, error)
	// Answer answers the flow's own calls; mine is false for any other call.
	Answer(ctx context.Context, m *wire.Message) (result json.RawMessage, mine bool, err error)
}

// Work is a request that is answered before its hook ends.
type Work interface {
	// Emitted is called with each event of the hook.
	Emitted(ev wire.Event)
	// Mark returns the params of a notification with a reference to the work.
	Mark(params json.RawMessage) json.RawMessage
	// End is called with the outcome of the hook.
	End(ctx context.Context, result json.RawMessage, err error)
}

// begin lets the flow turn a request into work, or returns nil.
func (h *handler) begin(in *dialect.Inbound, carried string, stop context.CancelFunc) (Work, error) {
	if h.flow == nil {
		return nil, nil
	}
	return h.flow.Begin(in, carried, stop)
}

// ended returns the response to a request whose hook has ended. It returns nil if the request has become work.
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

package server

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
)

// A Conn is a connection of a server or, if Serving is false, of a client.
type Conn struct {
	Codec          *codec.Codec
	Caller         dialect.Caller
	Backend        dialect.Backend
	Responder      dialect.Responder
	Serving        bool // the local side is the server
	SingleExchange bool // the connection is one HTTP exchange without a handshake
}

// A Host gives a server's native part access to the server.
type Host struct {
	Backend dialect.Backend
	Accept  func(c dialect.Caller) dialect.Handler // returns the handler for a connection, as the dialect file defines it
}

// A Native is the part of a server that is written in Go. All connections share it.
type Native struct {
	Open    func(c Conn) Flow // returns the native part of one connection
	Posts   *wire.HTTPPosts   // nil if the dialect file defines POST requests completely
	Changed func()            // notifies clients of a new catalog; may be nil
	End     func() error      // ends the work that outlives connections; may be nil
}

// A Flow is the native part of one connection on the answering side (see codec.Native). It embeds NoFlow for the methods that it
// does not need.
type Flow interface {
	// Take answers a request before the dialect file does. mine is false for requests that it does not answer.
	Take(ctx context.Context, in *dialect.Inbound) (result json.RawMessage, mine bool, err error)
	// Close runs when the connection closes, before its hooks end.
	Close()
	// Begin turns a request for a hook into work, if the peer wants that, and answers the request. carried is the method of the call
	// that the request wraps, or "". It returns the context of the hook. If it returns no Work, the hook's result is the response.
	Begin(ctx context.Context, in *dialect.Inbound, carried string) (context.Context, Work, error)
	// Answer answers calls that the flow itself defines. mine is false for other calls.
	Answer(ctx context.Context, m *wire.Message) (result json.RawMessage, mine bool, err error)
}

// NoFlow is the Flow of dialect files without a native part.
type NoFlow struct{}

// Take answers nothing.
func (NoFlow) Take(context.Context, *dialect.Inbound) (json.RawMessage, bool, error) {
	return nil, false, nil
}

// Close does nothing.
func (NoFlow) Close() {}

// Begin begins no work.
func (NoFlow) Begin(ctx context.Context, _ *dialect.Inbound, _ string) (context.Context, Work, error) {
	return ctx, nil, nil
}

// Answer answers nothing.
func (NoFlow) Answer(context.Context, *wire.Message) (json.RawMessage, bool, error) {
	return nil, false, nil
}

// A Work is a request whose response is sent before its hook ends.
type Work interface {
	// Emitted receives each event of the hook.
	Emitted(ev wire.Event)
	// Mark returns params, those of a notification, with an added reference to the work.
	Mark(params json.RawMessage) json.RawMessage
	// End receives the outcome of the hook.
	End(ctx context.Context, result json.RawMessage, err error)
}

// ended returns the response to a request whose hook has ended. It returns no response if the request became work.
func ended(ctx context.Context, in *dialect.Inbound, w Work, result json.RawMessage, err error) (json.RawMessage, error) {
	if w == nil {
		return result, err
	}
	in.Answered = true
	w.End(ctx, result, err)
	return nil, nil
}

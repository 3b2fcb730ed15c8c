package relay

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// Functions contains the function values (key@on=NAME) of the processes that use the socket of a session. Each process
// answers calls of its own functions for as long as it runs. In the peer's dialect, functions are hooks. Their names
// begin with the number of the process, in a form that users cannot choose.
type Functions struct {
	last atomic.Int64 // the number of the last process

	mu        sync.Mutex
	clients   map[string]dialect.Caller // by number
	answering map[*Process]bool         // processes that answer requests without a hook
}

// functionPrefix precedes the number in such a name, and functionEnd follows it.
const (
	functionPrefix = "\x00f"
	functionEnd    = "\x00"
)

// enter returns the name that a function of h's process has in the session.
func (f *Functions) enter(h *Process, name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	wire.Put(&f.clients, h.number, h.client)
	return functionPrefix + h.number + functionEnd + name
}

// forget removes the functions of h's process.
func (f *Functions) forget(h *Process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.clients, h.number)
	delete(f.answering, h)
}

// answersFallback records that h's process answers requests without a hook (see Client.AnswerFallback).
func answersFallback(_ context.Context, h *Process, _ *dialect.Inbound) (json.RawMessage, error) {
	f := h.socket.Functions
	f.mu.Lock()
	defer f.mu.Unlock()
	wire.Put(&f.answering, h, true)
	return nil, nil
}

// fallbackClient returns the process that should answer a request without a hook: the only one that has an open call.
// It returns nil if there is no such process or more than one.
func (f *Functions) fallbackClient() dialect.Caller {
	f.mu.Lock()
	defer f.mu.Unlock()
	var one dialect.Caller
	for h := range f.answering {
		switch {
		case !h.isBusy():
		case one != nil:
			return nil
		default:
			one = h.client
		}
	}
	return one
}

// of returns the process that defines a function, and the function's name in that process. client is nil if the process
// has ended. ok is false if name is not a function.
func (f *Functions) of(name string) (client dialect.Caller, plain string, ok bool) {
	rest, ok := strings.CutPrefix(name, functionPrefix)
	if !ok {
		return nil, "", false
	}
	number, plain, ok := strings.Cut(rest, functionEnd)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clients[number], plain, ok
}

// WithFunctions wraps b. The responders of the result also answer calls of the functions in f.
func WithFunctions(b dialect.Backend, f *Functions) dialect.Backend { return withFunctions{b, f} }

type withFunctions struct {
	dialect.Backend
	functions *Functions
}

func (b withFunctions) Bind(c dialect.Caller) dialect.Responder {
	return functionResponder{b.Backend.Bind(c), b.functions}
}

// functionEnded returns the error for a function whose process has ended.
func functionEnded() error {
	return wire.NewError(wire.CodeServer, "the process that defined the function has ended")
}

type functionResponder struct {
	dialect.Responder
	functions *Functions
}

func (r functionResponder) Kind(method string) (catalog.Kind, bool) {
	if client, _, ok := r.functions.of(method); ok {
		return catalog.Call, client != nil
	}
	kind, ok := r.Responder.Kind(method)
	if !ok && r.fallback(method) != nil {
		return catalog.Call, true
	}
	return kind, ok
}

// fallback returns the process that answers requests for a method without a hook, or nil.
func (r functionResponder) fallback(method string) dialect.Caller {
	if r.Denied(method) {
		return nil
	}
	return r.functions.fallbackClient()
}

func (r functionResponder) Respond(ctx context.Context, q dialect.Request) (json.RawMessage, error) {
	client, name, ok := r.functions.of(q.Method)
	switch {
	case !ok:
		if _, hooked := r.Responder.Kind(q.Method); !hooked {
			if client = r.fallback(q.Method); client != nil {
				return askFallback(ctx, client, q)
			}
		}
		return r.Responder.Respond(ctx, q)
	case client == nil:
		return nil, functionEnded()
	}
	out, err := client.Call(ctx, name, q.Params)
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Closed { // the process has just ended
		err = functionEnded()
	}
	if err == nil && q.Stream && q.Emit != nil {
		err = q.Emit(wire.Event{Kind: wire.Data, Data: out})
	}
	return out, err
}

// askFallback passes a request without a hook to another process.
func askFallback(ctx context.Context, client dialect.Caller, q dialect.Request) (json.RawMessage, error) {
	switch {
	case q.Claimed: // the process of the call has its event
		return nil, nil
	case q.Notification:
		return nil, client.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: q.Method, Params: q.Params})
	}
	out, err := client.Call(ctx, q.Method, q.Params)
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Closed { // the process has just ended
		err = wire.NewError(wire.CodeNoMethod, "method not found: "+q.Method)
	}
	return out, err
}

// answersMethod is the method of the socket with which a process offers to answer requests without a hook.
const answersMethod = "answers"

// AnswerFallback makes answer respond to those requests from the peer that have no hook. It applies while this process
// is the only one that has both a fallback and a pending call. If another version of rpcx runs the session and does not
// have this method, AnswerFallback does nothing.
func (r *Client) AnswerFallback(ctx context.Context, answer func(context.Context, dialect.Request) (json.RawMessage, error)) error {
	handle := func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
		return answer(ctx, dialect.Request{Method: in.Msg.Method, Params: in.Msg.Params, ID: in.Msg.ID, Notification: in.Msg.Kind != wire.Request})
	}
	r.AnswerBy(Answerer{Accept: func(dialect.Caller) dialect.Handler { return dialect.Handler{Handle: handle} }})
	_, err := r.Call(ctx, answersMethod, nil)
	if wire.AsFault(err) == nil { // the other process does not have the method
		return nil
	}
	return err
}

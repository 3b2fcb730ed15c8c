package scomp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// eval answers an eval after all earlier evals of its session.
func (h *handler) eval(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	runtime := h.server.runtime
	if runtime == nil {
		return nil, wire.NewError(wire.CodeNoMethod, "this server has no runtime to evaluate code")
	}
	code, ok := scan.Text(scan.Get(in.Msg.Params, "code"))
	if !ok {
		return nil, wire.NewError(wire.CodeInvalidParams, "eval needs the code as a string")
	}
	select { // the response to the handshake must be the first message
	case <-h.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := h.codec().evalQueue.wait(ctx, string(in.Msg.ID)); err != nil {
		return nil, err
	}
	select {
	case h.session.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.session.turn }()
	value, err := runtime.Eval(ctx, dialect.Code{
		Session: h.session.id, Code: code, Names: h.names(), Invoke: h.call, Function: h.function,
	})
	if failed, ok := errors.AsType[*dialect.EvalError](err); ok {
		err = evalError(failed)
	}
	return value, err
}

// names lists the names that code can invoke: the local bindings, followed by the client's.
func (h *handler) names() []string {
	names := h.server.b.Catalog().Names()
	local := wire.SetOf(names)
	for _, name := range h.remote {
		if !local[name] {
			names = append(names, name)
		}
	}
	return names
}

// call invokes a name for code: a function reference of the client, a local binding, or a binding of the client.
func (h *handler) call(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	_, ref := cutRef(name)
	switch _, ok := h.r.Kind(name); {
	case ref:
		return h.caller.Call(ctx, name, input)
	case ok:
		return h.r.Respond(ctx, dialect.Request{Method: name, Params: input})
	case slices.Contains(h.remote, name):
		return h.caller.Call(ctx, name, input)
	}
	return nil, h.server.unknown(name)
}

// function creates a function value for a local binding. It returns nil for any other name.
func (h *handler) function(name string) json.RawMessage {
	if _, ok := h.r.Kind(name); !ok {
		return nil
	}
	return h.codec().refs.function(name, h.server.b.Catalog())
}

// codec returns the connection's codec. Evals arrive only through a codec of this package.
func (h *handler) codec() *codec { return h.caller.Connection().Codec.(*codec) }

// evalError converts the failure of code to an error with the kind, the stack and the cause as data.
func evalError(e *dialect.EvalError) *wire.Error {
	kind, cause := kindEval, json.RawMessage(nil)
	if e.Cause != nil {
		kind, cause = kindInvoke, e.Cause.JSON()
	}
	var data scan.Object
	data.Text("kind", cmp.Or(e.Kind, kind))
	data.SomeText("stack", e.Stack)
	data.Add("error", cause)
	out := wire.NewError(wire.CodeServer, e.Message)
	out.Data = data.End()
	return out
}

// An evalQueue contains the ids of the peer's unanswered evals in order of arrival. Only the first eval runs, because
// the server serializes evals ("No batching" in the specification).
type evalQueue struct {
	mu     sync.Mutex
	ids    []string
	change wire.Gate // opens when an eval is removed
}

func (q *evalQueue) enter(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ids = append(q.ids, id)
}

// leave removes id when its response is about to be written, and wakes the waiters.
func (q *evalQueue) leave(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.ids, id); i >= 0 {
		q.ids = slices.Delete(q.ids, i, i+1)
	}
	q.change.Pass()
}

// wait waits until id is first in the queue, or until ctx ends.
func (q *evalQueue) wait(ctx context.Context, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for slices.Index(q.ids, id) > 0 {
		if err := q.change.Await(ctx, &q.mu); err != nil {
			return err
		}
	}
	return nil
}

package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// A responder answers the requests of one client: hooks first, then the peer.
type responder struct {
	dialect.Responder // hooks and the policy
	bridge            *Bridge
	client            *client
	up                *upstream
	own               bool   // up is not shared with other clients
	lent              bool   // up is used only for the call of this client
	connecting        func() // cancels connect; nil: connect is not running
}

// offer returns the peer's method of that name, or nil.
func (r *responder) offer(name string) *offer {
	if o := r.bridge.offers[name]; o != nil || !r.bridge.open {
		return o
	}
	if name == "rpc.discover" || slices.Contains(r.bridge.here.Bridge.Own, name) {
		return nil
	}
	o := &offer{name: r.bridge.here.Names.FromHook(name)}
	if !r.bridge.streamed(o) {
		return nil
	}
	return o
}

// Kind returns how name is answered. It returns false if it is not answered.
func (r *responder) Kind(name string) (catalog.Kind, bool) {
	if kind, ok := r.Responder.Kind(name); ok {
		return kind, true
	}
	o := r.offer(name)
	switch {
	case o == nil:
		return "", false
	case o.kind == "" || o.array:
		return catalog.Call, true
	}
	return o.kind, true
}

// Respond answers one request with a hook. Without a hook, or if the hook answers "method not found", it forwards the request to the
// peer.
func (r *responder) Respond(ctx context.Context, req dialect.Request) (json.RawMessage, error) {
	o := r.offer(req.Method)
	_, hooked := r.Responder.Kind(req.Method)
	if hooked || o == nil || !r.Allows(req.Method) {
		result, err := r.Responder.Respond(ctx, req)
		var rpc *wire.Error
		if o == nil || !r.Allows(req.Method) || !errors.As(err, &rpc) || string(rpc.Code) != strconv.Itoa(wire.CodeNoMethod) {
			return result, err
		}
		req.Begin = nil // the hooks have already called it
	}
	if err := begin(req); err != nil {
		return nil, err
	}
	conv, done, err := r.up.begin(ctx, r.client)
	if err != nil {
		return nil, r.crossing(err)
	}
	defer done()
	op, err := r.bridge.op(o, req)
	if err != nil {
		return nil, err
	}
	if op.Kind == dialect.Notify {
		return nil, r.crossing(conv.Notify(ctx, op))
	}
	st, err := conv.Open(ctx, op)
	if err != nil {
		return nil, r.crossing(err)
	}
	a := answer{responder: r, req: req, array: o.array, stream: op.Kind == dialect.Subscribe}
	result, err := a.read(ctx, st, conv.Event)
	conv.Settle(ctx) // the peer's earlier messages must reach the client before the response
	if err != nil && !a.over {
		dialect.CancelAnyway(ctx, st)
	}
	return result, r.crossing(err)
}

// begin reports that the request is about to be sent to the peer.
func begin(req dialect.Request) error {
	if req.Begin == nil {
		return nil
	}
	return req.Begin()
}

// Greeted connects to the peer after the client's handshake: the handshake of that connection declares the methods that the
// client answers.
func (r *responder) Greeted(answers []string) {
	if r.own {
		r.up.declare(answers)
		r.connect()
	}
}

// connect opens the connection to the peer in advance. If it fails, the first call reports the error.
func (r *responder) connect() {
	if r.bridge.single.Load() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	r.connecting = func() { cancel(); <-done }
	go func() {
		defer close(done)
		_, _ = r.up.get(ctx)
	}()
}

// Close ends the hooks of this client, and its connection to the peer.
func (r *responder) Close() error {
	if r.connecting != nil {
		r.connecting()
	}
	err := r.Responder.Close()
	r.up.leave(r.client)
	if r.own {
		err = errors.Join(err, r.up.close())
	}
	if r.lent {
		err = errors.Join(err, r.bridge.calls.give(r.up))
	}
	return err
}

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
	"rpcx/wire/scan"
)

// A responder answers the requests of one client. It first tries the hooks and then the peer.
type responder struct {
	dialect.Responder // the hooks and the policy
	bridge            *Bridge
	client            *client
	up                *upstream
	own               bool   // no other client uses the connection
	lent              bool   // the connection serves only one call of this client
	connecting        func() // cancels connect while it runs, or nil
}

// offer returns the offer of a method, or nil.
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

// offered returns the offer for a request, or nil. If the dialect of both sides wraps calls, its own methods do not need to be in
// the catalog, but others do, unless another call contains them.
func (r *responder) offered(req *dialect.Request) *offer {
	if b := r.bridge; b.wraps() && !req.Wrapped && !req.Notification && !b.own(req.Method) {
		return b.offers[req.Method]
	}
	return r.offer(req.Method)
}

// hook returns the kind of the hook of that name. It returns false for hooks that answer only the peer.
func (r *responder) hook(name string) (catalog.Kind, bool) {
	if r.bridge.Asks(name) {
		return "", false
	}
	return r.Responder.Kind(name)
}

// Kind returns the kind of the method with that name. It returns false if neither a hook nor the peer has the method.
func (r *responder) Kind(name string) (catalog.Kind, bool) {
	if kind, ok := r.hook(name); ok {
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

// Respond answers one request with a hook. It forwards the request to the peer if there is no hook or if the hook returns "method
// not found".
func (r *responder) Respond(ctx context.Context, req dialect.Request) (json.RawMessage, error) {
	o, allowed := r.offered(&req), r.Allows(req.Method)
	_, hooked := r.hook(req.Method)
	switch {
	case hooked || !allowed: // no hook runs for a request that is not allowed
		result, err := r.Responder.Respond(ctx, req)
		var rpc *wire.Error
		if o == nil || !allowed || !errors.As(err, &rpc) || string(rpc.Code) != strconv.Itoa(wire.CodeNoMethod) {
			return result, err
		}
		req.Begin = nil // the hook has already called Begin
	case o == nil:
		return nil, wire.Errorf(wire.CodeNoMethod, "method not found: %s", req.Method)
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
	conv.Settle(ctx) // the client must receive the peer's earlier messages before the response
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

// HandshakeDone connects to the peer after the handshake with the client, because the handshake with the peer declares
// which methods the client answers.
func (r *responder) HandshakeDone(answers []string) {
	if r.own {
		r.up.declare(answers)
		r.connect()
	}
}

// connect opens the connection to the peer in advance. If that fails, the first call returns the error.
func (r *responder) connect() {
	if r.bridge.single.Load() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := wire.Go(func() { _, _ = r.up.get(ctx) })
	r.connecting = func() { cancel(); <-done }
}

// Close releases this client's hooks and closes its connection to the peer.
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

func (r *responder) crossing(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return r.representable(r.bridge.plainError(err))
}

// representable returns e with an error code that the listener's dialect can represent.
func (r *responder) representable(e *wire.Error) *wire.Error {
	switch string(e.Code) {
	case "-32603", "-32602", "-32601", "-32600", "-32001", "-32000":
		return e
	}
	if r.bridge.here.Bridge.Errors.TextCodes && scan.Type(e.Code) == 'n' {
		c := e.Clone()
		c.Code, c.Raw = scan.AppendQuoted(nil, string(e.Code)), nil
		return c
	}
	return e
}

// plainError converts an error from the peer or from a client to a form that every dialect can represent: an integer
// code, a message and data. Other members become part of data. Between equal dialects, the error stays unchanged.
func (b *Bridge) plainError(err error) *wire.Error {
	f := wire.AsFault(err)
	var rpc *wire.Error
	switch {
	case errors.As(err, &rpc):
	case f != nil && f.RPC != nil:
		rpc = f.RPC
	case f != nil:
		rpc = wire.NewError(wire.CodeServer, "the peer behind the bridge: "+f.Message)
	default:
		rpc = wire.NewError(wire.CodeInternal, err.Error())
	}
	if b.spec.Name == b.here.Name && rpc.Code != nil && string(scan.Get(rpc.Raw, "code")) == string(rpc.Code) {
		return rpc.Clone()
	}
	e := &wire.Error{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data, Retryable: rpc.Retryable}
	if scan.Type(e.Code) != 'n' {
		var o scan.Object
		o.Add("code", rpc.Code)
		o.SomeText("kind", rpc.Kind)
		if rpc.Retryable != nil {
			o.Bool("retryable", *rpc.Retryable)
		}
		o.Add("data", rpc.Data)
		e.Code, e.Data = wire.NewError(wire.CodeServer, "").Code, o.EndOrNil()
	}
	e = e.Clone()
	e.Raw = (&wire.Error{Code: e.Code, Message: e.Message, Data: e.Data}).JSON()
	return e
}

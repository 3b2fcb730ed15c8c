package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A responder answers the requests of one client: hooks first, then the peer.
type responder struct {
	dialect.Responder // hooks and the policy
	bridge            *Bridge
	client            *client
	up                *upstream
	own               bool   // up is not shared with other clients
	lent              bool   // up carries only the call of this client
	connecting        func() // cancels connect; nil means it does not run
}

// offer returns the peer's method of that name, or nil if it has none.
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

// Kind returns how name is answered, or false if it is not.
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

// Respond answers one request: by a hook if there is one, unless it answers
// "method not found", else by the peer.
func (r *responder) Respond(ctx context.Context, req dialect.Request) (json.RawMessage, error) {
	o := r.offer(req.Method)
	_, hooked := r.Responder.Kind(req.Method)
	if hooked || o == nil || !r.Allows(req.Method) {
		result, err := r.Responder.Respond(ctx, req)
		var rpc *wire.Error
		if o == nil || !r.Allows(req.Method) || !errors.As(err, &rpc) || string(rpc.Code) != strconv.Itoa(wire.CodeNoMethod) {
			return result, err
		}
		req.Begin = nil // the hooks have called it
	}
	if req.Begin != nil {
		if err := req.Begin(); err != nil {
			return nil, err
		}
	}
	conv, done, err := r.up.begin(ctx, r.client)
	if err != nil {
		return nil, r.crossing(err)
	}
	defer done()
	op := r.bridge.op(o, req)
	if op.Kind == dialect.Notify {
		return nil, r.crossing(conv.Notify(ctx, op))
	}
	st, err := conv.Open(ctx, op)
	if err != nil {
		return nil, r.crossing(err)
	}
	a := answer{responder: r, req: req, array: o.array, stream: op.Kind == dialect.Subscribe}
	result, err := a.read(ctx, st, conv.Event)
	conv.Settle(ctx) // what the peer sent before its answer must reach the client before the answer
	if err != nil && !a.over {
		dialect.CancelAnyway(ctx, st)
	}
	return result, r.crossing(err)
}

// Greeted connects to the peer after the client's handshake: the handshake of that connection declares the methods that the
// client answers.
func (r *responder) Greeted(answers []string) {
	if r.own {
		r.up.declare(answers)
		r.connect()
	}
}

// connect opens the connection to the peer before it is needed. If that fails, the first call
// reports it.
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

// An answer collects the events of one request to the peer.
type answer struct {
	responder *responder
	req       dialect.Request
	array     bool // the result is an array of the items
	stream    bool // the first response only names the stream
	over      bool

	items  scan.Array
	size   int
	last   json.RawMessage
	failed *wire.Error
}

// read passes on the events of st and returns its result.
func (a *answer) read(ctx context.Context, st dialect.Stream, event func(*wire.Message, *wire.Event) error) (json.RawMessage, error) {
	for {
		m, err := st.Next(ctx)
		if err == io.EOF {
			a.over = true
			return a.result()
		}
		if err != nil {
			return nil, err
		}
		final := m.Final
		if !(m.Kind == wire.Response && m.Err == nil && !final) || !a.stream && m.Stream == nil {
			var ev wire.Event
			if err := event(&m, &ev); err != nil {
				return nil, err
			}
			if err := a.event(ev); err != nil {
				return nil, err
			}
			final = final || ev.Final
		}
		if final {
			a.over = true
			return a.result()
		}
	}
}

// event passes on or keeps one event of the answer.
func (a *answer) event(ev wire.Event) error {
	switch ev.Kind {
	case wire.Done, wire.Opened, wire.Gap:
		return nil
	case wire.Failure:
		e := wire.NewError(wire.CodeServer, ev.Message)
		if ev.Err != nil {
			e = plainError(ev.Err)
		}
		err := a.goOn()
		a.failed = e
		return err
	case wire.Data:
		if err := a.goOn(); err != nil {
			return err
		}
		if data := ev.Data; data == nil {
			ev.Data = json.RawMessage("null")
		}
		if a.array {
			if a.size += len(ev.Data); a.size > wire.DefaultMaxMessage {
				return wire.Errorf(wire.CodeServer, "the items are longer than %d bytes in total", wire.DefaultMaxMessage)
			}
			a.items.Add(ev.Data)
			return nil
		}
		a.last = append(json.RawMessage(nil), ev.Data...)
		if !a.req.Stream {
			return nil
		}
	}
	if a.req.Emit == nil {
		return nil
	}
	ev.Stream, ev.Method, ev.Final = nil, "", false
	return a.req.Emit(ev)
}

// goOn is called when a message follows an error event: the error did not end the stream, so it is
// passed on as an event.
func (a *answer) goOn() error {
	e := a.failed
	a.failed = nil
	if e == nil || !a.req.Stream || a.req.Emit == nil {
		return nil
	}
	return a.req.Emit(wire.Event{Kind: wire.Failure, Err: a.responder.sayable(e)})
}

func (a *answer) result() (json.RawMessage, error) {
	switch {
	case a.failed != nil:
		return nil, a.failed
	case a.array:
		return a.items.End(), nil
	}
	return a.last, nil
}

// crossing converts err into the form in which the client gets it.
func (r *responder) crossing(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return r.sayable(plainError(err))
}

// sayable returns e with a code that the listener's dialect can carry.
func (r *responder) sayable(e *wire.Error) *wire.Error {
	switch string(e.Code) {
	case "-32603", "-32602", "-32601", "-32600", "-32001", "-32000":
		return e
	}
	if r.bridge.here.Bridge.TextCodes && scan.Type(e.Code) == 'n' {
		c := e.Clone()
		c.Code, c.Raw = scan.AppendQuoted(nil, string(e.Code)), nil
		return c
	}
	return e
}

// plainError converts an error of the peer into a form that every dialect can carry: an integer
// code, a message and data. Other members are put into data.
func plainError(err error) *wire.Error {
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

package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// call answers a request with a hook.
func (h *handler) call(ctx context.Context, in *dialect.Inbound, kind catalog.Kind) (json.RawMessage, error) {
	ctx, w, err := h.flow.Begin(ctx, in, "")
	if err != nil {
		return nil, err
	}
	r := dialect.Request{Method: in.Msg.Method, Params: in.Msg.Params, ID: in.Msg.ID, Vars: h.vars(&in.Msg)}
	if w != nil || kind != catalog.Stream {
		result, err := h.respondAs(ctx, &in.Msg, r, w, nil)
		return ended(ctx, in, w, result, h.public(err))
	}
	if h.Serving && !h.SingleExchange && h.d.Plan().Streams(in.Msg.Raw) {
		name, rule := h.d.Subscription(in.Msg.Method)
		if rule == nil && h.d.Page.Write.Event != nil { // events contain the id of their request
			rule = &load.Subscribe{}
		}
		if rule != nil {
			return h.stream(ctx, in, r, name, rule)
		}
	}
	switch several, err := h.several(&in.Msg); {
	case err != nil:
		return nil, err
	case several:
		return h.answers(ctx, in, r)
	}
	gathered := dialect.Gather(&r, wire.DefaultMaxMessage)
	progress, items := h.newProgressSender(ctx, &in.Msg), r.Emit
	defer progress.end()
	r.Emit = func(ev wire.Event) error {
		if ev.Kind == wire.Progress || ev.Kind == wire.Log {
			return progress.event(ev)
		}
		return items(ev)
	}
	return gathered(h.Responder.Respond(ctx, r))
}

// several reports whether the client accepts several responses to the request m.
func (h *handler) several(m *wire.Message) (bool, error) {
	names := h.d.Page.Names
	if !h.Serving || h.SingleExchange || names == nil || names.Response.More == "" || !h.d.Plan().Streams(m.Raw) {
		return false, nil
	}
	return h.d.Page.Serve.More.Holds(m.Params, h.of(m).Value)
}

// answers sends the events of a hook as several responses to a request. It delays each until the next one arrives, because it must
// mark the last one.
func (h *handler) answers(ctx context.Context, in *dialect.Inbound, r dialect.Request) (json.RawMessage, error) {
	var held json.RawMessage
	var failed error
	progress := h.newProgressSender(ctx, &in.Msg)
	defer progress.end()
	r.Stream = true
	r.Emit = progress.emitter(&failed, func(ev wire.Event) error {
		if held != nil {
			if err := in.Emit(wire.Event{Kind: wire.Data, Data: held}); err != nil {
				return err
			}
		}
		held = bytes.Clone(scan.OrNull(ev.Data))
		return nil
	})
	_, err := h.Responder.Respond(ctx, r)
	err = cmp.Or(err, failed)
	if err != nil && held != nil { // the error is the last response
		_ = in.Emit(wire.Event{Kind: wire.Data, Data: held}) // if the client has disconnected, it receives neither
	}
	return held, err
}

// warn reports the failure of a program in the dialect file to the user, once per program. It ignores other errors.
func (h *handler) warn(err error) {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Helper {
		return
	}
	which, _, _ := strings.Cut(f.Message, "): ") // without the reason, which may vary
	if warn := h.Caller.Connection().Warn; warn != nil {
		if _, reported := h.warned.LoadOrStore(which, true); !reported {
			warn(f.Message)
		}
	}
}

// public returns err in the form that the peer may see, and reports a failed program to the user.
func (h *handler) public(err error) error {
	h.warn(err)
	return program.Public(err)
}

// then sends the notification that follows the response to m.
func (h *handler) then(ctx context.Context, m *wire.Message, rule *load.Say) error {
	params, ok, err := program.If(rule.When, rule.Params, m.Params, h.of(m).Value)
	if err != nil || !ok {
		return err
	}
	return h.Caller.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: rule.Method, Params: params})
}

// after makes the client's calls that follow the notification m after its hook has run.
func (h *handler) after(m *wire.Message) {
	if h.Serving {
		return
	}
	for i := range h.d.Page.After {
		rule := &h.d.Page.After[i]
		if rule.Event != m.Method {
			continue
		}
		params, ok, err := program.If(rule.When, rule.Params, m.Params, h.of(m).Value)
		if !ok {
			h.warn(err)
			continue
		}
		st, err := h.Caller.Open(context.Background(), dialect.Op{Kind: dialect.Internal, Method: rule.Call, Params: params})
		if err == nil {
			go func() {
				defer wire.Guard()
				_ = dialect.Drain(context.Background(), st) // the response is not wanted
			}()
		}
	}
}

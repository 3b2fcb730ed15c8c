package server

import (
	"bytes"
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// call answers a request by a hook.
func (h *handler) call(ctx context.Context, in *dialect.Inbound, kind catalog.Kind) (json.RawMessage, error) {
	r := dialect.Request{Method: in.Msg.Method, Params: in.Msg.Params, ID: in.Msg.ID, Vars: h.vars(&in.Msg)}
	if kind != catalog.Stream {
		return h.respond(ctx, &in.Msg, r)
	}
	if h.Serving && !h.SingleExchange && h.d.Streams(in.Msg.Raw) {
		name, rule := h.d.Subscription(in.Msg.Method)
		if rule == nil && h.d.Page.Write.Event != nil { // it has the id of the request
			rule = &load.Subscribe{}
		}
		if rule != nil {
			return h.stream(ctx, in, r, name, rule)
		}
	}
	if several, err := h.several(&in.Msg); several || err != nil {
		if err != nil {
			return nil, err
		}
		return h.answers(ctx, in, r)
	}
	gathered := dialect.Gather(&r, wire.DefaultMaxMessage)
	told, items := h.newProgressSender(ctx, &in.Msg), r.Emit
	defer told.end()
	r.Emit = func(ev wire.Event) error {
		if ev.Kind == wire.Progress || ev.Kind == wire.Log {
			return told.event(ev)
		}
		return items(ev)
	}
	return gathered(h.Responder.Respond(ctx, r))
}

// several reports whether the client accepts several responses to m.
func (h *handler) several(m *wire.Message) (bool, error) {
	names := h.d.Page.Names
	if !h.Serving || h.SingleExchange || names == nil || names.Response.More == "" || !h.d.Streams(m.Raw) {
		return false, nil
	}
	return h.d.Page.Serve.More.Holds(m.Params, h.of(m).Value)
}

// answers sends the events of a hook as several responses to one request. It delays each until the next arrives, since the last response
// has to be marked as the last.
func (h *handler) answers(ctx context.Context, in *dialect.Inbound, r dialect.Request) (json.RawMessage, error) {
	var held json.RawMessage
	var failed error
	told := h.newProgressSender(ctx, &in.Msg)
	defer told.end()
	r.Stream = true
	r.Emit = told.emitter(&failed, func(ev wire.Event) error {
		if held != nil {
			if err := in.Emit(wire.Event{Kind: wire.Data, Data: held}); err != nil {
				return err
			}
		}
		held = bytes.Clone(scan.OrNull(ev.Data))
		return nil
	})
	_, err := h.Responder.Respond(ctx, r)
	if err == nil {
		err = failed
	}
	if err != nil && held != nil { // the error is the last response
		_ = in.Emit(wire.Event{Kind: wire.Data, Data: held}) // a disconnected client gets neither
	}
	return held, err
}

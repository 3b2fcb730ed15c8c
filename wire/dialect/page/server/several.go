package server

import (
	"bytes"
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// several reports whether the client takes several answers to m.
func (h *handler) several(m *wire.Message) (bool, error) {
	names := h.d.Page.Names
	if !h.serving || h.oneShot || names == nil || names.Response.More == "" {
		return false, nil
	}
	return h.d.Page.Serve.More.Holds(m.Params, h.of(m).Value)
}

// answers sends what a hook says as several answers to one request. Each is held until the
// next comes, as the last one says that no more follow.
func (h *handler) answers(ctx context.Context, in *dialect.Inbound, r dialect.Request) (json.RawMessage, error) {
	var held json.RawMessage
	var failed error
	told := h.teller(ctx, &in.Msg)
	defer told.end()
	r.Stream = true
	r.Emit = func(ev wire.Event) error {
		switch {
		case ev.Kind == wire.Failure && ev.Err != nil:
			failed = ev.Err
			return nil
		case ev.Kind != wire.Data:
			return told.event(ev)
		}
		if held != nil {
			if err := in.Emit(wire.Event{Kind: wire.Data, Data: held}); err != nil {
				return err
			}
		}
		held = bytes.Clone(ev.Data)
		if held == nil {
			held = json.RawMessage("null")
		}
		return nil
	}
	_, err := h.r.Respond(ctx, r)
	if err == nil {
		err = failed
	}
	return held, err
}

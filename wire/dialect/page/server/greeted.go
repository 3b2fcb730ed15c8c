package server

import (
	"context"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// greeted notifies the responder that the client's handshake is complete.
func (h *handler) greeted() {
	var names []string
	if sc := h.scope(); sc.Conn != nil {
		list, err := h.d.Page.Serve.Can.First(sc.Conn.Kept, sc.Value)
		h.warn(err)
		if err == nil && scan.Type(list) == 'a' {
			for name := range scan.Elements(list) {
				names = append(names, scan.String(name))
			}
		}
	}
	if h.Responder.Greeted(names); h.Codec != nil {
		h.Codec.Begin()
	}
}

// early returns the error for a message before the client's first call has succeeded, or for an array of messages that the client must
// not send. Otherwise it returns nil.
func (h *handler) early(ctx context.Context, m *wire.Message) error {
	if m.Err != nil {
		return m.Err
	}
	return h.Codec.Enter(ctx, m)
}

// keep stores the values that the dialect file selects from the params of a call. The codec stores those of a notification on arrival;
// here the programs run only to report their errors.
func (h *handler) keep(m *wire.Message) error {
	if !h.Serving || h.Codec == nil {
		return nil
	}
	values, err := h.Codec.KeptOf(m)
	if err == nil && values != nil && m.Kind == wire.Request {
		h.Codec.Keep(values)
	}
	return err
}

package server

import (
	"rpcx/wire"
	"rpcx/wire/scan"
)

// greeted tells the responder that the client has greeted.
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
	h.Responder.Greeted(names)
}

// keep stores the values that the dialect file keeps from the params of a call. Those of a notification are
// stored by the codec when it comes; here the programs run only to report their errors.
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

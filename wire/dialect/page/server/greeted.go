package server

import (
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// greeted tells who answers that the client has greeted.
func (h *handler) greeted() {
	g, ok := h.r.(dialect.Greeted)
	if !ok {
		return
	}
	var names []string
	if sc := h.scope(); sc.Conn != nil {
		list, err := h.d.Page.Serve.Can.First(sc.Conn.Kept, sc.Value)
		if err == nil && scan.Type(list) == 'a' {
			for name := range scan.Elements(list) {
				names = append(names, scan.String(name))
			}
		}
	}
	g.Greeted(names)
}

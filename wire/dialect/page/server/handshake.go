package server

import (
	"context"
	"encoding/json"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// handshakeDone notifies the responder after the client's handshake.
func (h *handler) handshakeDone() {
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
	if h.Responder.HandshakeDone(names); h.Codec != nil {
		h.Codec.Begin()
	}
}

// early returns the error for a message before the client's first call has succeeded, or for a forbidden array of messages. Otherwise
// it returns nil.
func (h *handler) early(ctx context.Context, m *wire.Message) error {
	if m.Err != nil {
		return m.Err
	}
	return h.Codec.Enter(ctx, m)
}

// keep stores the values of a call's params that the dialect file selects. The codec stores the values of a notification on arrival.
// Here the programs run only to report their errors.
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

// Gets returns the dialect file's responses to GET requests.
func (s *server) Gets(about catalog.Info) wire.HTTPGets {
	gets := wire.HTTPGets{}
	for path, prog := range s.d.Page.Serve.Get {
		gets[path] = func(at string) ([]byte, error) {
			doc, names := s.told()
			var in scan.Object
			in.Text("url", at)
			sc := &program.Scope{Catalog: doc, Conn: &program.Conn{Hooks: names, Version: about.Version}}
			body, err := prog.First(in.End(), sc.Value)
			return scan.OrNull(body), err
		}
	}
	return gets
}

// describe returns the function told, which computes its values once per catalog.
func (s *server) describe() func() (doc json.RawMessage, names []string) {
	var mu sync.Mutex
	var of *catalog.Catalog
	var doc json.RawMessage
	var names []string
	return func() (json.RawMessage, []string) {
		mu.Lock()
		defer mu.Unlock()
		c := s.b.Catalog()
		if c == nil || c == of {
			return doc, names
		}
		text, err := c.SelfContained().Marshal() // a program may pass on a single schema
		if err != nil {
			text = nil
		}
		of, doc, names = c, text, c.Names()
		return doc, names
	}
}

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

// handshakeDone notifies the responder that the client's handshake is complete.
func (h *handler) handshakeDone() {
	sc := h.scope()
	list, err := h.d.Page.Serve.Can.First(sc.Conn.Kept, sc.Value)
	h.warn(err)
	h.Responder.HandshakeDone(wire.Map(scan.List(list), func(name json.RawMessage) string { return scan.String(name) }))
	h.Codec.Begin()
}

// early returns an error for a message that is not allowed before the client's first call has succeeded, or that the codec rejected.
func (h *handler) early(ctx context.Context, m *wire.Message) error {
	if m.Err != nil {
		return m.Err
	}
	return h.Codec.Enter(ctx, m)
}

// keep stores the values that the dialect file selects from a call's params. For a notification, the codec has stored the values on
// arrival. The programs then run again only to report their errors.
func (h *handler) keep(m *wire.Message) error {
	if !h.Serving {
		return nil
	}
	values, err := h.Codec.KeptOf(m)
	if err == nil && values != nil && m.Kind == wire.Request {
		h.Codec.Keep(values)
	}
	return err
}

// Gets returns the responses to GET requests that the dialect file defines.
func (s *server) Gets(about catalog.Info) wire.HTTPGets {
	gets := wire.HTTPGets{}
	for path, prog := range s.d.Page.Serve.Get {
		gets[path] = func(at string) ([]byte, error) {
			doc, names := s.offers()
			var in scan.Object
			in.Text("url", at)
			sc := &program.Scope{Catalog: doc, Conn: &program.Conn{Hooks: names, Version: about.Version}}
			body, err := prog.First(in.End(), sc.Value)
			return scan.OrNull(body), err
		}
	}
	return gets
}

// describe returns the function for offers, which computes its values once for each catalog.
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
		of, names = c, c.Names()
		doc, _ = c.SelfContained().Marshal() // a program may send a single schema
		return doc, names
	}
}

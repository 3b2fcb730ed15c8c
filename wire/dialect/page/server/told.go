package server

import (
	"encoding/json"
	"sync"

	"rpcx/wire/catalog"
)

// describe returns the function told, which computes its values once for each catalog.
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

package introspect

import (
	"bytes"
	"slices"
	"sync"
)

// hashes follows the service's hash: what we know of the service was fetched
// when it had some hash, and each item says which it has now.
type hashes struct {
	last []byte // token of the item before; the reader's alone

	mu      sync.Mutex
	asking  bool     // what comes is the hash of what is being fetched
	current []string // tokens of those under which what we know was fetched
	stale   bool     // an item had another one
	wrong   bool     // params that fit were refused: what we know may be wrong
}

// hashesMost bounds the hashes that are remembered: a service has two at most,
// one that items have and one that it gives when asked.
const hashesMost = 8

// note takes the hash of an item.
func (h *hashes) note(token []byte) {
	if bytes.Equal(token, h.last) {
		return
	}
	h.last = append(h.last[:0], token...)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case slices.Contains(h.current, string(token)):
	case h.asking && len(h.current) < hashesMost:
		h.current = append(h.current, string(token))
	case len(h.current) > 0:
		h.stale = true
	}
}

// mistrust notes that the service refused params.
func (h *hashes) mistrust() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wrong = true
}

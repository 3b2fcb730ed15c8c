package introspect

import (
	"slices"
	"sync"
)

// hashes follows the service's hash: what we know of the service was fetched
// when it had some hash, and each item says which it has now.
type hashes struct {
	mu      sync.Mutex
	asking  bool     // what comes is the hash of what is being fetched
	seen    []string // tokens that came meanwhile
	current []string // tokens of those under which what we know was fetched
	stale   bool     // an item had another one
	wrong   bool     // params that fit were refused: what we know may be wrong
}

// hashesMost bounds the hashes that are remembered: a service has two at most,
// one that items have and one that it gives when asked.
const hashesMost = 8

// note takes the hash of an item.
func (h *hashes) note(token []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.asking && len(h.seen) < hashesMost && !has(h.seen, token):
		h.seen = append(h.seen, string(token))
	case !h.asking && len(h.current) > 0 && !has(h.current, token):
		h.stale = true
	}
}

// has says that token is one of those in list. It allocates nothing.
func has(list []string, token []byte) bool {
	for _, s := range list {
		if s == string(token) {
			return true
		}
	}
	return false
}

// mistrust notes that the service refused params.
func (h *hashes) mistrust() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wrong = true
}

// ask begins to collect hashes; until know nothing is stale.
func (h *hashes) ask() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asking, h.seen = true, nil
}

// asked are the hashes that came since ask.
func (h *hashes) asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

// know says under which hashes what we know was fetched.
func (h *hashes) know(current []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asking, h.stale, h.wrong = false, false, false
	h.current = slices.Clone(current[:min(len(current), hashesMost)])
}

// doubts says whether what we know is out of date, or may be wrong.
func (h *hashes) doubts() (stale, wrong bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stale, h.wrong
}

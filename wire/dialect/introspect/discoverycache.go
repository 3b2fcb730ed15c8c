package introspect

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"rpcx/wire/dialect"
)

// Shutdown updates the cache at the end of the connection if items have shown that
// it is out of date or may be wrong. It sends nothing.
func (c *codec) Shutdown(context.Context, dialect.Caller) error {
	d := &c.found
	stale, wrong := c.hashes.doubts()
	if d.kept.Update == nil || !stale && !wrong {
		return nil
	}
	if stale {
		d.kept.Update(func(json.RawMessage) json.RawMessage { return nil })
	} else {
		d.distrust()
	}
	return nil
}

// distrust removes the schemas from the cache, so that the next run requests them again.
func (d *discovery) distrust() {
	if d.kept.Update == nil {
		return
	}
	d.kept.Update(func(raw json.RawMessage) json.RawMessage {
		k := readDiscovered(raw)
		if k == nil {
			return nil
		}
		k.Schemas = map[string]json.RawMessage{}
		return k.json()
	})
}

// save writes the known facts to the cache, merged with the schemas that another process has stored meanwhile.
func (d *discovery) save() {
	if d.kept.Update == nil || !d.unsaved {
		return
	}
	d.unsaved = false
	d.kept.Update(func(raw json.RawMessage) json.RawMessage {
		k := *d.current
		k.Schemas = map[string]json.RawMessage{}
		if old := readDiscovered(raw); old != nil && old.known(k.Hashes) {
			k.add(old.Schemas)
		}
		k.add(d.current.Schemas)
		return k.json()
	})
}

// known reports whether d was requested under one of these hashes.
func (d *discovered) known(hashes []string) bool {
	return slices.ContainsFunc(hashes, func(h string) bool { return h != "" && slices.Contains(d.Hashes, h) })
}

// hashes follows the service hash. The schemas of the service were requested under one or two hashes. Every item
// carries the current hash, and a different one means that the schemas are out of date.
type hashes struct {
	mu         sync.Mutex
	collecting bool     // discovery is running, so that incoming hashes belong to what it requests
	seen       []string // hash tokens that arrived while collecting
	current    []string // hash tokens under which the schemas were fetched
	stale      bool     // an item had a hash that is not in current
	wrong      bool     // the service rejected params: the schemas may be wrong
}

// maxHashes bounds the remembered hashes. A service has at most two, one in its items and one that it returns on
// request.
const maxHashes = 8

// note records the hash of an item.
func (h *hashes) note(token []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.collecting && len(h.seen) < maxHashes && !has(h.seen, token):
		h.seen = append(h.seen, string(token))
	case !h.collecting && len(h.current) > 0 && !has(h.current, token):
		h.stale = true
	}
}

// has reports whether list holds token. It does not allocate, because it runs for every item.
func has(list []string, token []byte) bool {
	for _, s := range list {
		if s == string(token) {
			return true
		}
	}
	return false
}

// mistrust records that the service refused params although the hash is the same:
// changed parameters do not change it.
func (h *hashes) mistrust() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wrong = true
}

// collect begins to gather hashes. Until trust is called, nothing counts as stale.
func (h *hashes) collect() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.collecting, h.seen = true, nil
}

// collected returns the hashes that arrived since collect.
func (h *hashes) collected() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

// trust sets the hashes under which the schemas were fetched, and clears all doubts about them.
func (h *hashes) trust(current []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.collecting, h.stale, h.wrong = false, false, false
	h.current = slices.Clone(current[:min(len(current), maxHashes)])
}

// doubts reports whether the schemas are out of date (the hash changed), or may be wrong (params were rejected).
func (h *hashes) doubts() (stale, wrong bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stale, h.wrong
}

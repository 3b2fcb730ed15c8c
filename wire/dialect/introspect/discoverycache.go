package introspect

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Shutdown sends nothing. It updates the cache if items have shown that the cache is outdated or may be wrong.
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

// distrust removes the schemas from the cache, so that the next run requests them.
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
		return scan.JSON(k)
	})
}

// save stores the known facts in the cache, and keeps the schemas that another process has added since.
func (d *discovery) save() {
	if d.kept.Update == nil || !d.unsaved {
		return
	}
	d.unsaved = false
	d.kept.Update(func(raw json.RawMessage) json.RawMessage {
		k := *d.current
		k.Schemas = map[string]json.RawMessage{}
		if old := readDiscovered(raw); old != nil && old.known(k.Hashes) {
			maps.Copy(k.Schemas, old.Schemas)
		}
		maps.Copy(k.Schemas, d.current.Schemas)
		return scan.JSON(k)
	})
}

// known reports whether d belongs to one of the hashes.
func (d *discovered) known(hashes []string) bool {
	return slices.ContainsFunc(hashes, func(h string) bool { return h != "" && slices.Contains(d.Hashes, h) })
}

// hashes tracks the service hash. The service's schemas belong to one or two hashes. Every item contains the current
// hash; a different one means that the schemas are outdated.
type hashes struct {
	mu      sync.Mutex
	current []string // the hashes of the schemas; empty without schemas and while discovery is running
	others  []string // other hashes that have arrived

	wrong atomic.Bool // the service rejected params, which the hash does not cover, so the schemas may be wrong
}

// maxHashes bounds the stored hashes. A service has at most two: one in its items and one in its responses to
// service_hash.
const maxHashes = 8

// note records the hash of an item.
func (h *hashes) note(token []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !has(h.current, token) && !has(h.others, token) && len(h.others) < maxHashes {
		h.others = append(h.others, string(token))
	}
}

// has reports whether list contains token. It runs for every item and does not allocate.
func has(list []string, token []byte) bool {
	return slices.ContainsFunc(list, func(s string) bool { return s == string(token) })
}

// collected returns the hashes that have arrived since trust.
func (h *hashes) collected() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.others)
}

// trust sets the hashes of the schemas, which are then neither outdated nor wrong. While there are none, as during
// discovery, no schema counts as outdated.
func (h *hashes) trust(current []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current, h.others = slices.Clone(current[:min(len(current), maxHashes)]), nil
	h.wrong.Store(false)
}

// doubts reports whether the schemas are outdated (the hash changed) or may be wrong (the service rejected params).
func (h *hashes) doubts() (stale, wrong bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.current) > 0 && len(h.others) > 0, h.wrong.Load()
}

package introspect

import (
	"context"
	"encoding/json"
	"slices"

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

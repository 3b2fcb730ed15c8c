package introspect

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// discovered is a service's description of itself in the discovery cache.
type discovered struct {
	Format  int                        `json:"introspect"` // discoveredFormat
	Hashes  []string                   `json:"hashes"`     // JSON tokens: the hash in items, and the hash from service_hash
	Modules json.RawMessage            `json:"modules"`    // the data of service_schema
	Schemas map[string]json.RawMessage `json:"schemas"`    // the data of service_module_schema, by namespace
}

const discoveredFormat = 1

func newDiscovered(modules json.RawMessage, hashes []string) *discovered {
	d := &discovered{Format: discoveredFormat, Modules: modules, Schemas: map[string]json.RawMessage{}}
	for _, h := range hashes {
		if h != "" && !slices.Contains(d.Hashes, h) && len(d.Hashes) < maxHashes {
			d.Hashes = append(d.Hashes, h)
		}
	}
	return d
}

// readDiscovered decodes a cache entry. It returns nil for an entry in another format.
func readDiscovered(raw json.RawMessage) *discovered {
	d := &discovered{}
	if len(raw) == 0 || json.Unmarshal(raw, d) != nil || d.Format != discoveredFormat || scan.Type(scan.Trim(d.Modules)) != 'o' {
		return nil
	}
	if d.Schemas == nil {
		d.Schemas = map[string]json.RawMessage{}
	}
	return d
}

// A listedModule is a module, with its methods, in the response to service_schema (Introspective Streaming RPC, section
// 3.1).
type listedModule struct {
	Namespace string   `json:"namespace"`
	Methods   []string `json:"methods"`
	raw       json.RawMessage
}

// modules returns the modules that the service lists. It skips entries without a namespace and repeated namespaces.
func (d *discovered) modules() []listedModule {
	var all []listedModule
	seen := map[string]bool{}
	for val := range scan.Elements(scan.Get(d.Modules, "modules")) {
		m := listedModule{raw: val, Namespace: scan.String(scan.Get(val, "namespace"))}
		if m.Namespace == "" || seen[m.Namespace] {
			continue
		}
		seen[m.Namespace] = true
		for name := range scan.Elements(scan.Get(val, "methods")) {
			if text, ok := scan.Text(name); ok && text != "" {
				m.Methods = append(m.Methods, text)
			}
		}
		all = append(all, m)
	}
	return all
}

// names returns the namespaces of the modules.
func (d *discovered) names() []string {
	return wire.Map(d.modules(), func(m listedModule) string { return m.Namespace })
}

// catalog returns a catalog of the known facts. Methods of modules without a schema have only a name. note receives a
// sentence about each inconsistency between the list and the schemas. extra.unknown contains the names of wanted
// modules without a schema.
func (d *discovered) catalog(note func(string), wanted ...string) *catalog.Catalog {
	c := &catalog.Catalog{Catalog: 1, Dialect: "introspect", Methods: []catalog.Method{}}
	var modules scan.Array
	for _, m := range d.modules() {
		var s schemaReader
		if raw := d.Schemas[m.Namespace]; raw != nil {
			s = readModule(&m, raw, c.Defs, note)
		}
		for name, def := range s.defs {
			wire.Put(&c.Defs, name, def)
		}
		for i, name := range m.Methods {
			entry := catalog.Method{Name: m.Namespace + "_" + name, Kind: catalog.Stream}
			if v := s.variant(i, name); v != nil {
				s.fill(&entry, v)
			}
			c.Methods = append(c.Methods, entry)
		}
		modules.Add(scan.Without(m.raw, "methods"))
	}
	var extra scan.Object
	extra.Add("modules", modules.End())
	if unknown := d.unknown(wanted); len(unknown) > 0 {
		extra.Add("unknown", scan.TextsOf(unknown))
	}
	c.Extra = extra.End()
	return c
}

// cachedCatalog returns the catalog of an entry in the discovery cache, or nil if the entry is unreadable.
func cachedCatalog(kept json.RawMessage) *catalog.Catalog {
	d := readDiscovered(kept)
	if d == nil {
		return nil
	}
	return d.catalog(func(string) {}, d.names()...)
}

// unknown returns the wanted modules that are listed but have no schema.
func (d *discovered) unknown(wanted []string) (names []string) {
	listed := wire.SetOf(d.names())
	for _, name := range wanted {
		if d.Schemas[name] == nil && listed[name] {
			names = append(names, name)
		}
	}
	return names
}

// maxRequests bounds the concurrent requests for modules.
const maxRequests = 8

// learnModules requests the schemas of the named modules, several at a time. It skips modules with a known schema and
// modules that are not listed.
func (c *codec) learnModules(ctx context.Context, caller dialect.Caller, names []string) error {
	d := &c.found
	names = d.current.unknown(names)
	schemas, errs := make([]json.RawMessage, len(names)), make([]error, len(names))
	slots := make(chan struct{}, maxRequests)
	var asking sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		asking.Go(func() {
			defer wire.Guard()
			schemas[i], errs[i] = c.ask(ctx, caller, moduleSchemaMethod, scan.ArrayOf(scan.AppendQuoted(nil, name)))
			<-slots
		})
	}
	asking.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, name := range names {
		if lost(errs[i]) {
			return errs[i]
		}
		d.learnt(name, schemas[i], errs[i])
	}
	return nil
}

// learnt stores the response to a request for a module's schema. If the response contains no schema, the user receives
// the reason.
func (d *discovery) learnt(name string, schema json.RawMessage, err error) {
	if err == nil && scan.Type(schema) == 'o' {
		wire.Put(&d.fetched, name, d.calls.Load())
		d.current.Schemas[name], d.unsaved = schema, true
		return
	}
	text := "the service did not return the schema of its module " + name
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		d.warn(text + ": no response within " + askBound.String())
	case err != nil:
		d.note(text + ": " + err.Error())
	default:
		d.note(text)
	}
}

package introspect

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// knowledge is what a service has said of itself, as it is kept.
type knowledge struct {
	Format  int                        `json:"introspect"` // knowledgeFormat
	Hashes  []string                   `json:"hashes"`     // JSON tokens: one that items had, one that it gave when asked
	Modules json.RawMessage            `json:"modules"`    // the data of service_schema
	Schemas map[string]json.RawMessage `json:"schemas"`    // the data of service_module_schema, by namespace
}

const knowledgeFormat = 1

func newKnowledge(modules json.RawMessage, hashes []string) *knowledge {
	k := &knowledge{Format: knowledgeFormat, Modules: modules, Schemas: map[string]json.RawMessage{}}
	for _, h := range hashes {
		if h != "" && !slices.Contains(k.Hashes, h) && len(k.Hashes) < hashesMost {
			k.Hashes = append(k.Hashes, h)
		}
	}
	return k
}

// readKnowledge reads what was kept; nil where it is not to be understood.
func readKnowledge(raw json.RawMessage) *knowledge {
	k := &knowledge{}
	if len(raw) == 0 || json.Unmarshal(raw, k) != nil || k.Format != knowledgeFormat || scan.Type(scan.Trim(k.Modules)) != 'o' {
		return nil
	}
	if k.Schemas == nil {
		k.Schemas = map[string]json.RawMessage{}
	}
	return k
}

func (k *knowledge) json() json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(k) != nil {
		return nil
	}
	return b.Bytes()
}

func (k *knowledge) add(schemas map[string]json.RawMessage) { maps.Copy(k.Schemas, schemas) }

// A toldModule is a module as service_schema told of it.
type toldModule struct {
	Namespace string   `json:"namespace"`
	Methods   []string `json:"methods"`
	raw       json.RawMessage
}

// modules are the modules that were told of; what is none is passed over, and of
// several with one name the first stays.
func (k *knowledge) modules() []toldModule {
	var all []toldModule
	in := scan.Array(scan.Get(k.Modules, "modules"), wire.DefaultMaxDepth)
	for _, val, ok := in.Next(); ok; _, val, ok = in.Next() {
		m := toldModule{raw: val}
		m.Namespace, _ = scan.Text(scan.Get(val, "namespace"))
		if m.Namespace == "" || slices.ContainsFunc(all, func(o toldModule) bool { return o.Namespace == m.Namespace }) {
			continue
		}
		names := scan.Array(scan.Get(val, "methods"), wire.DefaultMaxDepth)
		for _, name, ok := names.Next(); ok; _, name, ok = names.Next() {
			if text, ok := scan.Text(name); ok && text != "" {
				m.Methods = append(m.Methods, text)
			}
		}
		all = append(all, m)
	}
	return all
}

// module finds a module; nil where there is none.
func (k *knowledge) module(namespace string) *toldModule {
	for _, m := range k.modules() {
		if m.Namespace == namespace {
			return &m
		}
	}
	return nil
}

// catalog is what is known in the shape of a catalog. Methods of modules whose
// schema is not known have only a name. note is told what is odd.
func (k *knowledge) catalog(note func(string)) *catalog.Catalog {
	c := &catalog.Catalog{Catalog: 1, Dialect: "introspect", Methods: []catalog.Method{}}
	var told []byte
	for _, m := range k.modules() {
		var s schemaReader
		if raw := k.Schemas[m.Namespace]; raw != nil {
			s = readModule(&m, raw, c.Defs, note)
		}
		for name, def := range s.defs {
			if c.Defs == nil {
				c.Defs = map[string]json.RawMessage{}
			}
			c.Defs[name] = def
		}
		for i, name := range m.Methods {
			entry := catalog.Method{Name: m.Namespace + "_" + name, Kind: catalog.Stream}
			if v := s.variant(i, name); v != nil {
				s.fill(&entry, v)
			}
			c.Methods = append(c.Methods, entry)
		}
		if told != nil {
			told = append(told, ',')
		}
		told = append(told, without(m.raw, "methods")...)
	}
	c.Extra = json.RawMessage(`{"modules":[` + string(told) + `]}`)
	return c
}

// CatalogOf is the catalog of what discovery kept; nil where that is not to be
// understood.
func CatalogOf(kept json.RawMessage) *catalog.Catalog {
	k := readKnowledge(kept)
	if k == nil {
		return nil
	}
	return k.catalog(func(string) {})
}

// without is an object without one of its members.
func without(obj json.RawMessage, key string) json.RawMessage {
	b := []byte{'{'}
	in := scan.Object(obj, wire.DefaultMaxDepth)
	for k, val, ok := in.Next(); ok; k, val, ok = in.Next() {
		if scan.IsKey(k, key) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(append(b, '"'), k...), `":`...), val...)
	}
	return append(b, '}')
}

package introspect

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// An offer is a catalog as modules. Methods whose names are not module_method
// can be called, but are in no module.
type offer struct {
	catalog *catalog.Catalog
	modules []*module
	hash    string
}

// A module is the methods of one namespace, in the catalog's order.
type module struct {
	offer       *offer
	namespace   string
	version     string
	description string
	methods     []*catalog.Method
	names       []string // without the namespace
}

// newOffer sorts the methods of c into modules. What c.Extra says of modules
// (namespace, version, description) is theirs; else it is the catalog's own.
func newOffer(c *catalog.Catalog) *offer {
	o := &offer{catalog: c}
	if c == nil {
		o.catalog = &catalog.Catalog{}
		return o
	}
	for i := range c.Methods {
		entry := &c.Methods[i]
		if !isName(entry.Name) {
			continue
		}
		namespace, name := Split(entry.Name)
		m := o.module(namespace)
		if m == nil {
			m = o.newModule(namespace)
			o.modules = append(o.modules, m)
		}
		m.methods, m.names = append(m.methods, entry), append(m.names, name)
	}
	o.hash = o.sum()
	return o
}

func (o *offer) newModule(namespace string) *module {
	m := &module{offer: o, namespace: namespace, version: o.catalog.Info.Version, description: o.catalog.Info.Description}
	told := scan.Array(scan.Get(o.catalog.Extra, "modules"), wire.DefaultMaxDepth)
	for _, val, ok := told.Next(); ok; _, val, ok = told.Next() {
		if name, _ := scan.Text(scan.Get(val, "namespace")); name != namespace {
			continue
		}
		if text, ok := scan.Text(scan.Get(val, "version")); ok {
			m.version = text
		}
		if text, ok := scan.Text(scan.Get(val, "description")); ok {
			m.description = text
		}
	}
	if m.version == "" {
		m.version = "0.0.0" // it must be there
	}
	return m
}

// module finds a module; nil where there is none.
func (o *offer) module(namespace string) *module {
	for _, m := range o.modules {
		if m.namespace == namespace {
			return m
		}
	}
	return nil
}

// sum is the hash of the modules, their versions and methods, in an order of its
// own: nothing else changes it.
func (o *offer) sum() string {
	var lines []string
	for _, m := range o.modules {
		names := slices.Sorted(slices.Values(m.names))
		lines = append(lines, m.namespace+" "+strconv.Quote(m.version)+" "+strings.Join(names, " "))
	}
	slices.Sort(lines)
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(lines, "\n"))) // never fails
	return fmt.Sprintf("%016x", h.Sum64())
}

// moduleInfo is a module as service_schema tells of it.
type moduleInfo struct {
	Namespace   string   `json:"namespace"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Methods     []string `json:"methods"`
}

// list is the answer to service_schema.
func (o *offer) list() json.RawMessage {
	all := struct {
		Modules []moduleInfo `json:"modules"`
		Total   int          `json:"total_methods"`
	}{Modules: []moduleInfo{}}
	for _, m := range o.modules {
		all.Modules = append(all.Modules, moduleInfo{m.namespace, m.version, m.description, m.names})
		all.Total += len(m.names)
	}
	b, _ := json.Marshal(all)
	return b
}

// schema is the module's JSON Schema: a variant for each method, and the
// definitions that these speak of.
func (m *module) schema() json.RawMessage {
	var b []byte
	for i, entry := range m.methods {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, variant(m.names[i], entry)...)
	}
	doc := `{"$schema":"https://json-schema.org/draft/2020-12/schema","title":` + quoted(title(m.namespace)) + `,"oneOf":[` + string(b) + `]`
	if defs := m.offer.definitions(b); defs != nil {
		doc += `,"$defs":` + string(defs)
	}
	return json.RawMessage(doc + "}")
}

// title is StorageMethods for storage.
func title(namespace string) string {
	return strings.ToUpper(namespace[:1]) + namespace[1:] + "Methods"
}

// variant is a method's schema: its params with the method's name among them.
// Params that are no plain object, or that have a member of that name, stand
// beside it.
func variant(name string, entry *catalog.Method) json.RawMessage {
	method := []byte(`{"const":` + quoted(name) + `}`)
	params := entry.Params
	if params == nil {
		params = json.RawMessage(`{"type":"object"}`)
	}
	properties := scan.Get(params, "properties")
	var v json.RawMessage
	if isPlain(params) && scan.Get(properties, "method") == nil {
		if properties == nil {
			properties = []byte("{}")
		}
		v = scan.Splice(params, "properties", scan.Splice(properties, "method", method))
		v = scan.Splice(v, "required", before(scan.Get(params, "required"), []byte(`"method"`)))
	} else {
		v = json.RawMessage(`{"type":"object","properties":{"method":` + string(method) + `,"params":` + string(params) + `},"required":["method","params"]}`)
	}
	if entry.Description != "" {
		v = scan.Splice(v, "description", []byte(quoted(entry.Description)))
	}
	return v
}

// isPlain says that a schema is of an object, and lists all of its properties
// itself.
func isPlain(schema []byte) bool {
	if kind, _ := scan.Text(scan.Get(schema, "type")); kind != "object" {
		return false
	}
	for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf", "not", "if", "propertyNames", "maxProperties", "dependentSchemas"} {
		if scan.Get(schema, key) != nil {
			return false
		}
	}
	return true
}

// before is an array with one element more at its front.
func before(array, element []byte) []byte {
	rest := scan.Trim(array)
	if len(rest) == 0 {
		rest = []byte("[]")
	}
	b := append([]byte{'['}, element...)
	if rest = scan.Trim(rest[1:]); rest[0] != ']' {
		b = append(b, ',')
	}
	return append(b, rest...)
}

// definitions are those of the catalog's that schemas speak of, directly or by
// others; nil where there are none.
func (o *offer) definitions(schemas []byte) json.RawMessage {
	used := map[string]json.RawMessage{}
	for todo := []string{string(schemas)}; len(todo) > 0; todo = todo[1:] {
		for name, def := range o.catalog.Defs {
			if _, ok := used[name]; !ok && refersTo(todo[0], name) {
				used[name] = def
				todo = append(todo, string(def))
			}
		}
	}
	if len(used) == 0 {
		return nil
	}
	b, _ := json.Marshal(used)
	return b
}

// refersTo says that schemas have a reference to a definition, or to a part of
// it.
func refersTo(schemas, name string) bool {
	ref := strings.TrimSuffix(quoted("#/$defs/"+scan.Escape(name)), `"`)
	return strings.Contains(schemas, ref+`"`) || strings.Contains(schemas, ref+"/")
}

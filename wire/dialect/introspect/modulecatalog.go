package introspect

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A moduleCatalog groups the methods of a catalog by module, as service_schema lists them. Methods whose names do not
// have the form module_method can be called, but no listed module contains them.
type moduleCatalog struct {
	catalog *catalog.Catalog
	modules []*module
	hash    string
}

// A module contains the methods of one namespace, in the catalog's order.
type module struct {
	parent      *moduleCatalog
	namespace   string
	version     string
	description string
	methods     []*catalog.Method
	names       []string // the methods' names without the namespace
}

// newModuleCatalog groups the methods of c into modules. c.Extra may contain a module's version and description. By
// default, they are those of the catalog.
func newModuleCatalog(c *catalog.Catalog) *moduleCatalog {
	mc := &moduleCatalog{catalog: c}
	if c == nil {
		mc.catalog = &catalog.Catalog{}
		return mc
	}
	for i := range c.Methods {
		entry := &c.Methods[i]
		if !isListable(entry.Name) {
			continue
		}
		namespace, name := Split(entry.Name)
		m := mc.module(namespace)
		if m == nil {
			m = mc.newModule(namespace)
			mc.modules = append(mc.modules, m)
		}
		m.methods, m.names = append(m.methods, entry), append(m.names, name)
	}
	mc.hash = mc.sum()
	return mc
}

func (mc *moduleCatalog) newModule(namespace string) *module {
	m := &module{parent: mc, namespace: namespace, version: mc.catalog.Info.Version, description: mc.catalog.Info.Description}
	for val := range scan.Elements(scan.Get(mc.catalog.Extra, "modules")) {
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
	if m.version = strings.TrimPrefix(m.version, "v"); m.version == "" || m.version[0] < '0' || m.version[0] > '9' {
		m.version = "0.0.0" // the protocol requires a numeric version
	}
	return m
}

// module returns the module of that namespace, or nil.
func (mc *moduleCatalog) module(namespace string) *module {
	for _, m := range mc.modules {
		if m.namespace == namespace {
			return m
		}
	}
	return nil
}

// sum computes the service hash from the modules, their versions and their method names. It sorts them, so that the
// order in the catalog does not change the hash.
func (mc *moduleCatalog) sum() string {
	var lines []string
	for _, m := range mc.modules {
		names := slices.Sorted(slices.Values(m.names))
		lines = append(lines, m.namespace+" "+strconv.Quote(m.version)+" "+strings.Join(names, " "))
	}
	slices.Sort(lines)
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(lines, "\n"))) // never fails
	return fmt.Sprintf("%016x", h.Sum64())
}

// moduleInfo is a module's entry in the response to service_schema.
type moduleInfo struct {
	Namespace   string   `json:"namespace"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Methods     []string `json:"methods"`
}

// list returns the data in the response to service_schema.
func (mc *moduleCatalog) list() json.RawMessage {
	all := struct {
		Modules []moduleInfo `json:"modules"`
		Total   int          `json:"total_methods"`
	}{Modules: []moduleInfo{}}
	for _, m := range mc.modules {
		all.Modules = append(all.Modules, moduleInfo{m.namespace, m.version, m.description, m.names})
		all.Total += len(m.names)
	}
	return scan.JSON(all)
}

// schema returns the module's JSON Schema: a oneOf variant for each method, and the definitions that the variants use.
func (m *module) schema() json.RawMessage {
	var variants scan.Array
	for i, entry := range m.methods {
		variants.Add(variant(m.names[i], entry))
	}
	all := variants.End()
	var doc scan.Object
	doc.Text("$schema", "https://json-schema.org/draft/2020-12/schema")
	doc.Text("title", title(m.namespace))
	doc.Add("oneOf", all)
	doc.Add("$defs", m.parent.definitions(all))
	return doc.End()
}

// title makes a schema title from a namespace, such as StorageMethods for storage.
func title(namespace string) string {
	return strings.ToUpper(namespace[:1]) + namespace[1:] + "Methods"
}

// variant returns a method's schema: the schema of its params with a constant "method" as an additional property. If
// the params are not a plain object, contain "method", or contain only "params", they become the member "params" beside
// "method" (an adjacently tagged variant).
func variant(name string, entry *catalog.Method) json.RawMessage {
	method := scan.Pair("const", scan.AppendQuoted(nil, name))
	params := scan.Or(entry.Params, json.RawMessage(`{"type":"object"}`))
	properties := scan.Get(params, "properties")
	var v json.RawMessage
	only := scan.Count(properties) == 1 && scan.Get(properties, "params") != nil
	if isPlain(params) && scan.Get(properties, "method") == nil && !only {
		properties = scan.Or(properties, []byte("{}"))
		v = scan.Splice(params, "properties", scan.Splice(properties, "method", method))
		v = scan.Splice(v, "required", before(scan.Get(params, "required"), []byte(`"method"`)))
	} else {
		var both, o scan.Object
		both.Add("method", method)
		both.Add("params", params)
		o.Text("type", "object")
		o.Add("properties", both.End())
		o.Add("required", []byte(`["method","params"]`))
		v = o.End()
	}
	if entry.Description != "" {
		v = scan.Splice(v, "description", scan.AppendQuoted(nil, entry.Description))
	}
	return v
}

// isPlain reports whether a schema describes an object and lists its properties. Such a schema can have an additional
// property without a change of meaning.
func isPlain(schema []byte) bool {
	if kind, _ := scan.Text(scan.Get(schema, "type")); kind != "object" {
		return false
	}
	return !slices.ContainsFunc([]string{"$ref", "allOf", "anyOf", "oneOf", "not", "if", "propertyNames", "maxProperties", "dependentSchemas"}, func(key string) bool { return scan.Get(schema, key) != nil })
}

// before returns a JSON array with element inserted as its first element.
func before(array, element []byte) []byte {
	var a scan.Array
	a.Add(element)
	for val := range scan.Elements(array) {
		a.Add(val)
	}
	return a.End()
}

// definitions returns the catalog's $defs that schemas use, directly or through other definitions, as one object, or
// nil.
func (mc *moduleCatalog) definitions(schemas []byte) json.RawMessage {
	used := map[string]json.RawMessage{}
	for todo := []string{string(schemas)}; len(todo) > 0; todo = todo[1:] {
		for name, def := range mc.catalog.Defs {
			if _, ok := used[name]; !ok && refersTo(todo[0], name) {
				used[name] = def
				todo = append(todo, string(def))
			}
		}
	}
	if len(used) == 0 {
		return nil
	}
	return scan.JSON(used)
}

// refersTo reports whether schemas contain a $ref to the definition name or to a part of it.
func refersTo(schemas, name string) bool {
	ref := quotedRef(scan.Escape(name))
	return strings.Contains(schemas, ref+`"`) || strings.Contains(schemas, ref+"/")
}

// quotedRef returns a $ref to a definition as JSON, without the closing quote, because the pointer may continue.
func quotedRef(name string) string {
	return strings.TrimSuffix(string(scan.AppendQuoted(nil, "#/$defs/"+name)), `"`)
}

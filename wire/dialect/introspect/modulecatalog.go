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

// A module contains the methods of one namespace, in the catalog's order. Its JSON is its entry in the response to
// service_schema.
type module struct {
	Namespace   string   `json:"namespace"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Names       []string `json:"methods"` // the methods' names without the namespace

	parent  *moduleCatalog
	methods []*catalog.Method
}

// newModuleCatalog groups the methods of c into modules. c.Extra may contain a module's version and description. By
// default, they are those of the catalog.
func newModuleCatalog(c *catalog.Catalog) *moduleCatalog {
	mc := &moduleCatalog{catalog: c, modules: []*module{}}
	if c == nil {
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
		m.methods, m.Names = append(m.methods, entry), append(m.Names, name)
	}
	mc.hash = mc.sum()
	return mc
}

func (mc *moduleCatalog) newModule(namespace string) *module {
	m := &module{parent: mc, Namespace: namespace, Version: mc.catalog.Info.Version, Description: mc.catalog.Info.Description}
	for val := range scan.Elements(scan.Get(mc.catalog.Extra, "modules")) {
		if name, _ := scan.Text(scan.Get(val, "namespace")); name != namespace {
			continue
		}
		if text, ok := scan.Text(scan.Get(val, "version")); ok {
			m.Version = text
		}
		if text, ok := scan.Text(scan.Get(val, "description")); ok {
			m.Description = text
		}
	}
	if m.Version = strings.TrimPrefix(m.Version, "v"); m.Version == "" || m.Version[0] < '0' || m.Version[0] > '9' {
		m.Version = "0.0.0" // the protocol requires a numeric version
	}
	return m
}

// module returns the module of that namespace, or nil.
func (mc *moduleCatalog) module(namespace string) *module {
	if i := slices.IndexFunc(mc.modules, func(m *module) bool { return m.Namespace == namespace }); i >= 0 {
		return mc.modules[i]
	}
	return nil
}

// sum computes the service hash from the modules, their versions and their method names. It sorts them, so that the
// order in the catalog does not change the hash.
func (mc *moduleCatalog) sum() string {
	var lines []string
	for _, m := range mc.modules {
		names := slices.Sorted(slices.Values(m.Names))
		lines = append(lines, m.Namespace+" "+strconv.Quote(m.Version)+" "+strings.Join(names, " "))
	}
	slices.Sort(lines)
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(lines, "\n"))) // never fails
	return fmt.Sprintf("%016x", h.Sum64())
}

// list returns the data in the response to service_schema.
func (mc *moduleCatalog) list() json.RawMessage {
	total := 0
	for _, m := range mc.modules {
		total += len(m.Names)
	}
	return scan.JSON(struct {
		Modules []*module `json:"modules"`
		Total   int       `json:"total_methods"`
	}{mc.modules, total})
}

// schema returns the module's JSON Schema: a oneOf variant for each method, and the definitions that the variants use.
func (m *module) schema() json.RawMessage {
	var variants scan.Array
	for i, entry := range m.methods {
		variants.Add(variant(m.Names[i], entry))
	}
	all := variants.End()
	var doc scan.Object
	doc.Text("$schema", "https://json-schema.org/draft/2020-12/schema")
	doc.Text("title", strings.ToUpper(m.Namespace[:1])+m.Namespace[1:]+"Methods") // such as StorageMethods
	doc.Add("oneOf", all)
	doc.Add("$defs", m.parent.definitions(all))
	return doc.End()
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
		v = scan.Splice(v, "required", scan.ArrayOf(slices.Concat([]json.RawMessage{[]byte(`"method"`)}, scan.List(scan.Get(params, "required")))...))
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

// definitions returns the catalog's $defs that schemas use as one object, or nil.
func (mc *moduleCatalog) definitions(schemas []byte) json.RawMessage {
	used := mc.catalog.UsedDefs(schemas, nil)
	if len(used) == 0 {
		return nil
	}
	return scan.JSON(used)
}

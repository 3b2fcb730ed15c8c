package introspect

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A schemaReader splits a module's schema into variants, one per method, and definitions. It renames a definition if
// another module uses its name.
type schemaReader struct {
	module *listedModule
	list   []json.RawMessage          // the variants in order
	names  []string                   // the method of each variant, or ""
	by     map[string]json.RawMessage // the variants by method
	defs   map[string]json.RawMessage
}

// readModule reads the schema of m. taken contains the definitions that are already in the catalog.
func readModule(m *listedModule, schema json.RawMessage, taken map[string]json.RawMessage, note func(string)) schemaReader {
	schema = catalog.ChangeRefs(modern(schema), func(ref string) string { return strings.Replace(ref, "#/definitions/", "#/$defs/", 1) })
	s := schemaReader{module: m, by: map[string]json.RawMessage{}, defs: map[string]json.RawMessage{}}
	names := map[string]string{} // the definitions' names in the catalog
	for _, key := range []string{"definitions", "$defs"} {
		for name, val := range scan.Named(scan.Get(schema, key)) {
			names[name] = name
			if old, ok := taken[name]; ok && !scan.Equal(old, val) { // an earlier module has a different definition of that name
				names[name] = m.Namespace + "_" + name
			}
		}
	}
	schema = catalog.ChangeRefs(schema, func(ref string) string {
		name, rest, ok := catalog.CutDef(ref)
		if to := names[name]; ok && to != "" && to != name {
			return catalog.DefRef(to) + rest
		}
		return ref
	})
	for _, key := range []string{"definitions", "$defs"} {
		for name, val := range scan.Named(scan.Get(schema, key)) {
			s.defs[names[name]] = val
		}
	}
	variants := scan.Or(scan.Get(schema, "oneOf"), scan.Get(schema, "anyOf"), scan.ArrayOf(schema))
	for val := range scan.Elements(variants) {
		v := s.resolve(val)
		looks := maxExamined
		name := s.nameOf(v, &looks)
		s.list, s.names = append(s.list, v), append(s.names, name)
		if name != "" && s.by[name] == nil {
			s.by[name] = v
		}
	}
	s.check(note)
	return s
}

// resolve follows the $refs of a variant to its definition. It keeps the description beside the reference.
func (s *schemaReader) resolve(v json.RawMessage) json.RawMessage {
	beside := v
	for range 8 {
		name, rest, ok := catalog.CutDef(scan.String(scan.Get(v, "$ref")))
		if !ok || rest != "" || s.defs[name] == nil {
			break
		}
		v = s.defs[name]
	}
	if text := scan.Get(beside, "description"); text != nil && scan.Type(v) == 'o' {
		v = scan.Splice(v, "description", text)
	}
	return v
}

// maxExamined bounds the parts of a variant that are examined, because references may be circular.
const maxExamined = 100

// nameOf returns the method that a variant names: the const, or the only enum value, in the schema of its property
// "method". The property may be in a part of allOf. It returns "" if the variant names no method.
func (s *schemaReader) nameOf(v json.RawMessage, looks *int) string {
	if *looks--; *looks < 0 {
		return ""
	}
	method := scan.Get(scan.Get(v, "properties"), "method")
	name, ok := scan.Text(scan.Get(method, "const"))
	if !ok {
		name, ok = scan.Text(scan.Only(scan.Get(method, "enum")))
	}
	if ok {
		return s.short(name)
	}
	for part := range scan.Elements(scan.Get(v, "allOf")) {
		if name := s.nameOf(s.resolve(part), looks); name != "" {
			return name
		}
	}
	return ""
}

// short removes the module's name from a method's name if the rest is a listed method.
func (s *schemaReader) short(name string) string {
	for _, separator := range []string{"_", "."} {
		if rest, ok := strings.CutPrefix(name, s.module.Namespace+separator); ok && slices.Contains(s.module.Methods, rest) {
			return rest
		}
	}
	return name
}

// check compares the schema with the module's list of methods. It reports each kind of inconsistency once.
func (s *schemaReader) check(note func(string)) {
	order, unlisted := false, ""
	for i, name := range s.names {
		switch {
		case name == "":
		case !slices.Contains(s.module.Methods, name):
			unlisted = name
		case i >= len(s.module.Methods) || s.module.Methods[i] != name:
			order = true
		}
	}
	if order {
		note("the schema of the module " + s.module.Namespace + " lists its methods in a different order than service_schema")
	}
	if unlisted != "" {
		note("the schema of the module " + s.module.Namespace + " has methods that service_schema does not list, such as " + unlisted)
	}
}

// variant returns the schema of the i-th method: the variant that names the method, or the i-th variant if it names no
// method. It returns nil if there is neither.
func (s *schemaReader) variant(i int, name string) json.RawMessage {
	if v := s.by[name]; v != nil {
		return v
	}
	if i < len(s.list) && s.names[i] == "" {
		return s.list[i]
	}
	return nil
}

func (s *schemaReader) fill(entry *catalog.Method, v json.RawMessage) {
	entry.Description, _ = scan.Text(scan.Get(v, "description"))
	properties := scan.Get(v, "properties")
	if params := scan.Get(properties, "params"); params != nil && scan.Get(properties, "method") != nil && scan.Count(properties) == 2 {
		entry.Params = params
		return
	}
	if entry.Description != "" {
		v = scan.Without(v, "description")
	}
	entry.Params = withoutMethod(v)
}

// withoutMethod removes the property for the method's name from a variant and the parts of its allOf. The rest
// describes only the params.
func withoutMethod(v json.RawMessage) json.RawMessage {
	if scan.Type(v) != 'o' {
		return v
	}
	if properties := scan.Get(v, "properties"); scan.Type(properties) == 'o' {
		v = scan.Splice(v, "properties", scan.Without(properties, "method"))
	}
	required := scan.List(scan.Get(v, "required"))
	required = slices.DeleteFunc(required, func(name json.RawMessage) bool { return scan.String(name) == "method" })
	if len(required) > 0 {
		v = scan.Splice(v, "required", scan.ArrayOf(required...))
	} else {
		v = scan.Without(v, "required")
	}
	if parts := wire.Map(scan.List(scan.Get(v, "allOf")), withoutMethod); parts != nil {
		v = scan.Splice(v, "allOf", scan.ArrayOf(parts...))
	}
	return v
}

// schemasByName are keywords whose values are schemas by name. The values of the keywords in plainValues are not
// schemas.
var (
	schemasByName = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	plainValues   = []string{"const", "enum", "default", "examples"}
)

// modern rewrites a schema to draft 2020-12, which catalogs use. In older drafts, the schemas of a tuple's elements are
// in items instead of prefixItems.
func modern(schema []byte) []byte {
	if !bytes.Contains(schema, []byte(`"items"`)) {
		return schema
	}
	if scan.Type(schema) == 'a' {
		return mapped(schema, func(_ string, val []byte) (string, []byte) { return "", modern(val) })
	}
	older := scan.Type(scan.Get(schema, "items")) == 'a'
	return mapped(schema, func(key string, val []byte) (string, []byte) {
		switch {
		case slices.Contains(schemasByName, key):
			return key, mapped(val, func(name string, val []byte) (string, []byte) { return name, modern(val) })
		case slices.Contains(plainValues, key):
			return key, val
		case older && key == "items":
			key = "prefixItems"
		case older && key == "additionalItems":
			key = "items"
		}
		return key, modern(val)
	})
}

// mapped returns an array or object in which change has replaced each member, in the same order. It returns any other
// value unchanged.
func mapped(value []byte, change func(key string, val []byte) (string, []byte)) []byte {
	switch scan.Type(value) {
	case 'a':
		var a scan.Array
		for val := range scan.Elements(value) {
			_, val = change("", val)
			a.Add(val)
		}
		return a.End()
	case 'o':
		var o scan.Object
		for name, val := range scan.Named(value) {
			o.Add(change(name, val))
		}
		return o.End()
	}
	return value
}

package introspect

import (
	"bytes"
	"slices"

	"rpcx/wire/scan"
)

// Members of a schema that hold schemas by name, and those that hold values.
var (
	schemasByName = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	plainValues   = []string{"const", "enum", "default", "examples"}
)

// modern rewrites a schema to draft 2020-12, the draft of catalogs: older drafts
// put the schemas of a tuple's elements into items, which is prefixItems now.
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

// mapped returns an array or an object with other members instead of its own, in the same order. It returns any other
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

package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// isKey reports whether a property name can be written as KEY=VALUE.
func isKey(name string) bool {
	return name != "" && (strings.ContainsRune("_$", rune(name[0])) || name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z') &&
		!strings.ContainsAny(name, "=:@{}\"\t\n\f\r ")
}

// Example returns the arguments after METHOD in a call of m: its required parameters, with values from the schema or
// placeholders such as <string>. If conv requires runnable examples, the values are plausible ones. c provides the
// $defs and may be nil.
func (m *Method) Example(c *Catalog, conv Conventions) []string {
	doc := c.document()
	schema := resolve(m.Params, doc)
	if typeOf(schema) == "array" {
		if v := ExampleValue(schema, doc); string(v) != "[]" {
			return []string{string(v)}
		}
		return nil
	}
	if branching(schema) {
		return []string{string(ExampleValue(schema, doc))}
	}
	properties := maps.Collect(scan.Named(scan.Get(schema, "properties")))
	var words []string
	for _, name := range requiredOf(schema) {
		if !isKey(name) {
			return []string{string(ExampleValue(schema, doc))}
		}
		words = append(words, word(name, resolve(properties[name], doc), doc, conv.RunnableExamples))
	}
	return words
}

// branching reports whether a schema describes properties outside its own "properties".
func branching(schema json.RawMessage) bool {
	return slices.ContainsFunc(alternatives, func(key string) bool { return len(scan.List(scan.Get(schema, key))) > 0 })
}

// alternatives are the keywords of subschemas that describe the same value.
var alternatives = []string{"anyOf", "oneOf", "allOf"}

// word returns one KEY=VALUE.
func word(name string, schema, doc json.RawMessage, exact bool) string {
	key := strings.NewReplacer(".", `\.`, "[", `\[`).Replace(name)
	v, t := given(schema), typeOf(schema)
	if v == nil && (exact || t == "array" || t == "object") {
		v = ExampleValue(schema, doc)
	}
	switch text, isText := scan.Text(v); {
	case isText:
		return key + "=" + text
	case v != nil:
		return key + ":=" + string(v)
	case t == "" || t == "string":
		return key + "=<string>"
	default:
		return key + ":=<" + t + ">"
	}
}

// ExampleValue returns a value for a schema: an example in the schema, or a simple value of its type. $refs are
// resolved in doc. The value may be invalid, because patterns and similar keywords are ignored.
func ExampleValue(schema, doc json.RawMessage) json.RawMessage {
	return (&sampler{doc: doc, left: maxSamples}).of(resolve(schema, doc), 0)
}

// requiredOf lists the required properties in the order of properties.
func requiredOf(schema json.RawMessage) []string {
	var required, names []string
	if json.Unmarshal(scan.Get(schema, "required"), &required) != nil {
		return nil
	}
	want := wire.SetOf(required)
	for _, name := range append(Keys(scan.Get(schema, "properties")), required...) {
		if want[name] {
			names = append(names, name)
			delete(want, name)
		}
	}
	return names
}

// typeOf returns the first type of a schema other than null. Without a type, it returns "object" for properties, "array" for
// items, or "".
func typeOf(schema json.RawMessage) string {
	raw := scan.Get(schema, "type")
	if one := scan.String(raw); one != "" {
		return one
	}
	for val := range scan.Elements(raw) {
		if t := scan.String(val); t != "" && t != "null" {
			return t
		}
	}
	switch {
	case scan.Get(schema, "properties") != nil:
		return "object"
	case !branching(schema) && (scan.Get(schema, "items") != nil || scan.Get(schema, "prefixItems") != nil):
		return "array"
	}
	return ""
}

// resolve follows the local $refs of schema, at most 16.
func resolve(schema, doc json.RawMessage) json.RawMessage {
	for range 16 {
		ref := scan.String(scan.Get(schema, "$ref"))
		if !strings.HasPrefix(ref, "#/") {
			return schema
		}
		schema = scan.At(doc, ref[1:])
	}
	return schema
}

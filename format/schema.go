package format

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A parameter is a member of params, or of another object, as a listing shows it.
type parameter struct {
	name     string
	required bool
	schema   json.RawMessage
	when     string // the form of the object that contains the parameter, or "" for all forms
}

// parameters returns the members that a schema describes for an object, or the elements of a list of fixed length. c
// contains the $defs.
func parameters(c *catalog.Catalog, schema json.RawMessage) []parameter {
	schema = definition(c, schema)
	if items := tuple(schema); items != nil {
		var params []parameter
		for i, item := range items {
			params = append(params, parameter{name: positional(item, i), required: true, schema: spelled(c, item)})
		}
		return params
	}
	budget := maxExamined
	return members(c, schema, nil, &budget)
}

// maxExamined is the maximum number of parts of a schema that are examined, because references can be circular.
const maxExamined = 100

// members adds the properties of an object and its parts to params. Each name occurs only once, and there are at most
// maxRows.
func members(c *catalog.Catalog, schema json.RawMessage, params []parameter, budget *int) []parameter {
	if *budget--; *budget < 0 {
		return params
	}
	required := map[string]bool{}
	for _, name := range scan.List(scan.Get(schema, "required")) {
		required[scan.String(name)] = true
	}
	for key, val := range scan.Members(scan.Get(schema, "properties")) {
		if len(params) == maxRows {
			return params
		}
		p := parameter{name: CleanLine(scan.Key(key)), required: required[scan.Key(key)], schema: spelled(c, val)}
		if !slices.ContainsFunc(params, func(o parameter) bool { return o.name == p.name }) {
			params = append(params, p)
		}
	}
	for _, part := range scan.List(scan.Get(schema, "allOf")) {
		params = members(c, definition(c, part), params, budget)
	}
	return params
}

// tuple returns the schemas for the elements of a list if each element has its own: prefixItems, or items in older
// drafts.
func tuple(schema json.RawMessage) []json.RawMessage {
	if items := scan.List(scan.Get(schema, "prefixItems")); items != nil {
		return items
	}
	return scan.List(scan.Get(schema, "items"))
}

// spelled returns the target of a $ref. If the target is an object, it returns the $ref itself, because its name says
// more than "object".
func spelled(c *catalog.Catalog, schema json.RawMessage) json.RawMessage {
	if def := definition(c, schema); def != nil && scan.Get(def, "properties") == nil {
		return def
	}
	return schema
}

// positional returns the name of a list element: its title, or otherwise its index.
func positional(schema json.RawMessage, i int) string {
	if title := scan.String(scan.Get(schema, "title")); title != "" {
		return CleanLine(title)
	}
	return strconv.Itoa(i)
}

// definition returns the target of a $ref to the catalog's $defs.
func definition(c *catalog.Catalog, schema json.RawMessage) json.RawMessage {
	for range 8 {
		name, ok := strings.CutPrefix(scan.String(scan.Get(schema, "$ref")), "#/$defs/")
		if !ok || c == nil {
			break
		}
		schema = c.Defs[name]
	}
	return schema
}

// typeText returns a short description of the type that a schema requires.
func typeText(schema json.RawMessage) string { return CleanLine(typeAt(schema, 0)) }

func typeAt(schema json.RawMessage, depth int) string {
	if scan.Type(schema) != 'o' || depth > 3 {
		return "any"
	}
	if ref := scan.String(scan.Get(schema, "$ref")); ref != "" {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	if value := scan.Get(schema, "const"); value != nil {
		return excerpt(value)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if branches := scan.List(scan.Get(schema, key)); len(branches) > 0 {
			return union(branches, depth)
		}
	}
	names := typeNames(schema)
	if parts := scan.List(scan.Get(schema, "allOf")); len(parts) > 0 && slices.Equal(names, []string{"any"}) {
		return typeAt(parts[0], depth+1) // some schemas use allOf to combine a $ref with other keywords
	}
	for i, name := range names {
		if name == "array" {
			names[i] = "array of " + elementText(schema, depth+1)
		}
	}
	text := strings.Join(names, "|")
	if format := scan.String(scan.Get(schema, "format")); format != "" {
		text += " (" + format + ")"
	}
	return text
}

// elementText returns a short description of the type that the elements of an array must have.
func elementText(array json.RawMessage, depth int) string {
	items := tuple(array)
	if items == nil {
		return typeAt(scan.Get(array, "items"), depth)
	}
	return strings.Join(wire.Map(items, func(item json.RawMessage) string { return typeAt(item, depth) }), ", ")
}

func union(branches []json.RawMessage, depth int) string {
	var names []string
	for _, b := range branches {
		if name := typeAt(b, depth+1); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// typeNames returns the types that a schema names, or that follow from its keywords, or "any".
func typeNames(schema json.RawMessage) []string {
	raw := scan.Get(schema, "type")
	if name, ok := scan.Text(raw); ok {
		return []string{name}
	}
	var names []string
	for _, e := range scan.List(raw) {
		if name, ok := scan.Text(e); ok {
			names = append(names, name)
		}
	}
	switch {
	case len(names) > 0:
	case scan.Get(schema, "properties") != nil:
		names = []string{"object"}
	case scan.Get(schema, "items") != nil, scan.Get(schema, "prefixItems") != nil:
		names = []string{"array"}
	default:
		for _, v := range scan.List(scan.Get(schema, "enum")) {
			if name := typeWords[scan.Type(v)]; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return []string{"any"}
	}
	return names
}

// typeWords contains the types of values.
var typeWords = map[byte]string{'s': "string", 'n': "number", 't': "boolean", 'f': "boolean", '0': "null", 'a': "array", 'o': "object"}

// list returns the elements of an array on one line. Strings have no quotes.
func list(array json.RawMessage) string {
	return strings.Join(wire.Map(scan.List(array), excerptText), ", ")
}

// Takes describes on one line which params a schema accepts. It returns "" if the schema does not describe them. It
// omits the member method if its value is fixed, because some services repeat the method's name in it.
func Takes(schema json.RawMessage) string {
	if scan.Type(schema) != 'o' {
		return ""
	}
	c := &catalog.Catalog{Defs: map[string]json.RawMessage{}}
	for _, key := range []string{"definitions", "$defs"} {
		for name, val := range scan.Members(scan.Get(schema, key)) {
			c.Defs[scan.Key(name)] = val
		}
	}
	var words []string
	for _, p := range parameters(c, schema) {
		if p.name == "method" && only(p.schema) != nil {
			continue
		}
		word := p.name + " (" + typeText(p.schema)
		if p.required {
			word += ", required"
		}
		words = append(words, word+")")
	}
	if len(words) == 0 {
		return "no parameters"
	}
	return Cut(strings.Join(words, ", "), 400)
}

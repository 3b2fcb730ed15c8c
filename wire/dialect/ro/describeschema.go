package ro

import (
	"encoding/json"
	"iter"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// schemaWords are members by which a JSON Schema is recognised; an object without
// any of them lists parameters by name.
var schemaWords = map[string]bool{
	"type": true, "properties": true, "$ref": true, "anyOf": true, "oneOf": true, "allOf": true, "enum": true,
	"const": true, "items": true, "additionalProperties": true, "$schema": true, "required": true, "not": true,
}

// schemaOf returns a description of params or of a result as a JSON Schema. It is
// one already, or lists parameters in an array (names, or objects with a name
// and a schema) or as members (type names or schemas). nil if it is none of
// these.
func schemaOf(val []byte) json.RawMessage {
	switch scan.Type(val) {
	case 't', 'f':
		return val
	case 's':
		return typeNamed(val)
	case 'a':
		return fromList(val)
	case 'o':
	default:
		return nil
	}
	empty := true
	for key, v := range each(val) {
		_, named := scan.Text(v)
		if empty = false; schemaWords[key] && (key != "type" || !named || typeNamed(v) != nil) {
			return val
		}
	}
	if empty {
		return val
	}
	var props []byte
	for key, v := range each(val) {
		s := schemaOf(v)
		if s == nil {
			s = json.RawMessage(`{}`)
		}
		props = member(props, strings.TrimSuffix(key, "?"), s)
	}
	return object(props, nil)
}

// typeNamed returns the schema for the name of a type; nil for an unknown name.
func typeNamed(val []byte) json.RawMessage {
	text, _ := scan.Text(val)
	switch text {
	case "string", "number", "integer", "boolean", "object", "array", "null":
		return json.RawMessage(`{"type":"` + text + `"}`)
	case "int":
		return json.RawMessage(`{"type":"integer"}`)
	case "bool":
		return json.RawMessage(`{"type":"boolean"}`)
	case "any":
		return json.RawMessage(`{}`)
	}
	return nil
}

// fromList returns the schema for parameters that are listed in an array; nil if
// an element has no name.
func fromList(val []byte) json.RawMessage {
	var props, required []byte
	for v := range elements(val) {
		name, ok := scan.Text(v)
		s := json.RawMessage(`{}`)
		if !ok {
			if name, ok = scan.Text(scan.Get(v, "name")); !ok {
				return nil
			}
			if given := scan.Get(v, "schema"); given != nil {
				s = given
			} else if given := typeNamed(scan.Get(v, "type")); given != nil {
				s = given
			}
			if string(scan.Get(v, "required")) == "true" {
				required = append(scan.AppendQuoted(required, name), ',')
			}
		}
		props = member(props, name, s)
	}
	return object(props, required)
}

// object returns the schema of an object. required holds quoted names, a comma
// after each.
func object(props, required []byte) json.RawMessage {
	if props == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	b := append([]byte(`{"type":"object","properties":`), closed(props)...)
	if len(required) > 0 {
		b = append(append(append(b, `,"required":[`...), required[:len(required)-1]...), ']')
	}
	return append(b, '}')
}

// member appends a member to an object that has no closing brace yet; nil is an
// empty one.
func member(obj []byte, key string, val []byte) []byte {
	if obj == nil {
		obj = []byte{'{'}
	} else {
		obj = append(obj, ',')
	}
	return append(append(scan.AppendQuoted(obj, key), ':'), val...)
}

// closed ends the object that member has built; nil if it is empty.
func closed(obj []byte) json.RawMessage {
	if obj == nil {
		return nil
	}
	return append(obj[:len(obj):len(obj)], '}')
}

// elements iterates over the elements of a valid array.
func elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for val := range scan.Elements(arr) {
			if !yield(val) {
				return
			}
		}
	}
}

// described is a resource in our own answer to rpc.describe.
type described struct {
	name  string // of a subresource without the resource's
	said  json.RawMessage
	verbs []byte // members of an array, a comma before each
	subs  []*described
}

// json encodes the resource with its verbs and subresources.
func (d *described) json() []byte {
	b := member(nil, "name", scan.AppendQuoted(nil, d.name))
	for key, val := range each(d.said) {
		if _, ours := inside[key]; !ours && key != "name" {
			b = member(b, key, val)
		}
	}
	b = member(b, "verbs", array(d.verbs))
	if d.subs != nil {
		b = member(b, "subresources", list(d.subs))
	}
	return closed(b)
}

// list encodes resources as an array.
func list(all []*described) []byte {
	var b []byte
	for _, d := range all {
		b = append(append(b, ','), d.json()...)
	}
	return array(b)
}

// array makes an array of elements that have a comma before each.
func array(elements []byte) []byte {
	if len(elements) == 0 {
		return []byte("[]")
	}
	b := append([]byte{'['}, elements[1:]...)
	return append(b, ']')
}

// Description returns the result of rpc.describe for c. Methods that belong to no
// resource are listed under "methods".
func Description(c *catalog.Catalog) json.RawMessage {
	var all []*described
	var others []byte
	said := scan.Get(c.Extra, "resources")
	for i := range c.Methods {
		m := &c.Methods[i]
		a := dotted(WireName(m.Name))
		if a.Verb == "" {
			others = append(append(others, ','), verbOf(m, m.Name)...)
			continue
		}
		at := find(&all, a.Resource, a.Resource, said)
		if a.Subresource != "" {
			at = find(&at.subs, a.Subresource, resourceOf(a), said)
		}
		at.verbs = append(append(at.verbs, ','), verbOf(m, a.Verb)...)
	}
	b := member(nil, "ro-jrpc", []byte(`"1.0"`))
	if c.Info.Name != "" || c.Info.Version != "" || c.Info.Description != "" {
		if info, err := marshal(c.Info); err == nil {
			b = member(b, "info", info)
		}
	}
	b = member(b, "resources", list(all))
	if others != nil {
		b = member(b, "methods", array(others))
	}
	if defs, err := marshal(c.Defs); c.Defs != nil && err == nil {
		b = member(b, "$defs", defs)
	}
	return closed(b)
}

// find returns the resource of that name, added if it is new. full is its name
// with its parent's, under which said describes it.
func find(all *[]*described, name, full string, said []byte) *described {
	for _, d := range *all {
		if d.name == name {
			return d
		}
	}
	d := &described{name: name, said: scan.Get(said, full)}
	*all = append(*all, d)
	return d
}

// verbOf encodes a method under the name of its verb.
func verbOf(m *catalog.Method, verb string) json.RawMessage {
	out := *m
	out.Name, out.Extra, out.Run = verb, nil, ""
	b, err := marshal(out)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	for key, val := range each(m.Extra) {
		if _, known := places[key]; !known {
			b = append(member(b[:len(b)-1], key, val), '}')
		}
	}
	return b
}

// marshal is json.Marshal without escaping for HTML.
func marshal(v any) (json.RawMessage, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n")), err
}

package ro

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// schemaWords are members that identify an object as a JSON Schema. An object without them lists parameters by name.
var schemaWords = map[string]bool{
	"type": true, "properties": true, "$ref": true, "anyOf": true, "oneOf": true, "allOf": true, "enum": true,
	"const": true, "items": true, "additionalProperties": true, "$schema": true, "required": true, "not": true,
}

// schemaOf converts a description of params or of a result to a JSON Schema. The description is a schema, an array of
// parameters (names, or objects with a name and a schema), or an object of parameters (type names or schemas). schemaOf
// returns nil for other values.
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
	for key, v := range scan.Named(val) {
		_, named := scan.Text(v)
		if empty = false; schemaWords[key] && (key != "type" || !named || typeNamed(v) != nil) {
			return val
		}
	}
	if empty {
		return val
	}
	var props scan.Object
	for key, v := range scan.Named(val) {
		s := scan.Or(schemaOf(v), json.RawMessage(`{}`))
		props.Add(strings.TrimSuffix(key, "?"), s)
	}
	return object(&props, nil)
}

// typeNamed returns the schema for the name of a type, or nil for an unknown name.
func typeNamed(val []byte) json.RawMessage {
	switch scan.String(val) {
	case "string", "number", "integer", "boolean", "object", "array", "null":
		return scan.Pair("type", val)
	case "int":
		return json.RawMessage(`{"type":"integer"}`)
	case "bool":
		return json.RawMessage(`{"type":"boolean"}`)
	case "any":
		return json.RawMessage(`{}`)
	}
	return nil
}

// fromList returns the schema for an array of parameters, or nil if an element has no name.
func fromList(val []byte) json.RawMessage {
	var props scan.Object
	var required scan.Array
	for v := range scan.Elements(val) {
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
				required.Text(name)
			}
		}
		props.Add(name, s)
	}
	return object(&props, required.EndOrNil())
}

// object returns the schema of an object with these properties. required may be nil.
func object(props *scan.Object, required []byte) json.RawMessage {
	var o scan.Object
	o.Text("type", "object")
	if !props.Empty() {
		o.Add("properties", props.End())
		o.Add("required", required)
	}
	return o.End()
}

// described is a resource in the local response to rpc.describe.
type described struct {
	name  string // the name of a subresource does not contain the resource's
	said  json.RawMessage
	verbs scan.Array
	subs  []*described
}

// json encodes the resource with its verbs and subresources.
func (d *described) json() []byte {
	var o scan.Object
	o.Text("name", d.name)
	o.Members(scan.Without(d.said, "name"), slices.Collect(maps.Keys(inside))...)
	o.Add("verbs", d.verbs.End())
	if d.subs != nil {
		o.Add("subresources", scan.ArrayOf(wire.Map(d.subs, (*described).json)...))
	}
	return o.End()
}

// Description returns the result of rpc.describe for c. It lists methods without a resource under "methods".
func Description(c *catalog.Catalog) json.RawMessage {
	var all []*described
	var others scan.Array
	said := scan.Get(c.Extra, "resources")
	for i := range c.Methods {
		m := &c.Methods[i]
		a := dotted(WireName(m.Name))
		if a.Verb == "" {
			others.Add(verbOf(m, m.Name))
			continue
		}
		at := find(&all, a.Resource, a.Resource, said)
		if a.Subresource != "" {
			at = find(&at.subs, a.Subresource, resourceOf(a), said)
		}
		at.verbs.Add(verbOf(m, a.Verb))
	}
	var o scan.Object
	o.Text("ro-jrpc", "1.0")
	if c.Info.Name != "" || c.Info.Version != "" || c.Info.Description != "" {
		o.Value("info", c.Info)
	}
	o.Add("resources", scan.ArrayOf(wire.Map(all, (*described).json)...))
	o.Add("methods", others.EndOrNil())
	if c.Defs != nil {
		o.Value("$defs", c.Defs)
	}
	return o.End()
}

// find returns the resource name in all, and adds it if it is missing. full is the key of the resource in said: name or,
// for a subresource, its dotted name.
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

// verbOf encodes a method with its verb as the name.
func verbOf(m *catalog.Method, verb string) json.RawMessage {
	out := *m
	out.Name, out.Extra, out.Run = verb, nil, ""
	var o scan.Object
	o.Inside(scan.JSON(out))
	o.Members(m.Extra, slices.Collect(maps.Keys(places))...)
	return o.End()
}

// places maps member names of method descriptions, as used by real servers, to members of a catalog's method.
var places = map[string]string{
	"name": "name", "method": "name", "resource": "name", "verb": "name", "subresource": "name",
	"description": "description", "summary": "description", "doc": "description",
	"params": "params", "parameters": "params", "input": "params", "inputSchema": "params", "input_schema": "params",
	"result": "result", "returns": "result", "output": "result", "outputSchema": "result", "output_schema": "result",
	"kind": "kind", "cache": "cache", "hints": "hints", "effects": "effects",
}

// method reads the description of a method. val is an object, a string with the description, or nil.
func (r *reader) method(name string, val []byte) {
	m := catalog.Method{Name: name, Description: scan.String(val)}
	var rest scan.Object
	for key, v := range scan.Named(val) {
		field, said := places[key], v
		switch {
		case field == "name", field == "description" && m.Description != "":
			continue
		case field == "params", field == "result":
			said = schemaOf(v)
		}
		if said == nil || !m.Set(field, said) {
			rest.Add(key, v)
		}
	}
	m.Extra = rest.EndOrNil()
	r.c.Methods = append(r.c.Methods, m)
}

package ro

import (
	"cmp"
	"encoding/json"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// places maps the members of a method's description, in the spellings of real
// servers, to the members of a catalog's method.
var places = map[string]string{
	"name": "name", "method": "name", "resource": "name", "verb": "name", "subresource": "name",
	"description": "description", "summary": "description", "doc": "description",
	"params": "params", "parameters": "params", "input": "params", "inputSchema": "params", "input_schema": "params",
	"result": "result", "returns": "result", "output": "result", "outputSchema": "result", "output_schema": "result",
	"kind": "kind", "cache": "cache", "hints": "hints", "effects": "effects",
}

// method reads the description of one method; val may be a text, or nil.
func (r *reader) method(name string, val []byte) {
	m := catalog.Method{Name: name}
	var rest scan.Object
	if text, ok := scan.Text(val); ok {
		m.Description = text
	}
	if scan.Type(val) == 'o' {
		for key, v := range scan.Named(val) {
			if !place(&m, places[key], v) {
				rest.Add(key, v)
			}
		}
	}
	m.Extra = rest.EndOrNil()
	r.c.Methods = append(r.c.Methods, m)
}

// place stores val in the member of m with that name. It returns false if it does not fit there.
func place(m *catalog.Method, where string, val []byte) bool {
	text, isText := scan.Text(val)
	switch where {
	case "name":
	case "description":
		m.Description = cmp.Or(m.Description, text)
		return isText
	case "params":
		m.Params = schemaOf(val)
		return m.Params != nil
	case "result":
		m.Result = schemaOf(val)
		return m.Result != nil
	case "kind":
		m.Kind = catalog.Kind(text)
		return isText
	case "cache":
		m.Cache = val
	case "hints":
		m.Hints = val
	case "effects":
		return json.Unmarshal(val, &m.Effects) == nil
	default:
		return false
	}
	return true
}

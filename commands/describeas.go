package commands

import (
	"encoding/json"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// describeForms are the values of describe --format.
var describeForms = []string{"catalog", "openrpc", "jsonschema"}

// describeAs returns a catalog, or one method of it, in another form: an OpenRPC
// document, or a JSON Schema of the calls (for one method, of its params).
func describeAs(form string, c *catalog.Catalog, m *catalog.Method) ([]byte, error) {
	switch {
	case form == "openrpc" && m != nil:
		one := c.Clone()
		one.Methods = []catalog.Method{*m}
		return jsonrpc.ToOpenRPC(one), nil
	case form == "openrpc":
		return jsonrpc.ToOpenRPC(c), nil
	case form == "jsonschema" && m != nil:
		return paramsSchema(c, m)
	case form == "jsonschema":
		return callsSchema(c)
	case m != nil:
		return json.Marshal(m)
	}
	return c.MarshalIndent()
}

const schemaDialect = `"https://json-schema.org/draft/2020-12/schema"`

// paramsSchema returns the schema of a method's params, with all definitions
// that it refers to.
func paramsSchema(c *catalog.Catalog, m *catalog.Method) ([]byte, error) {
	schema := []byte(m.Params)
	if scan.Type(schema) != 'o' {
		schema = []byte("{}")
	}
	defs, err := json.Marshal(c.Defs)
	if len(c.Defs) > 0 && err == nil {
		schema = scan.Splice(schema, "$defs", defs)
	}
	if m.Description != "" && scan.Get(schema, "description") == nil {
		schema = scan.Splice(schema, "description", scan.AppendQuoted(nil, m.Description))
	}
	return scan.Splice(schema, "$schema", []byte(schemaDialect)), err
}

// callsSchema returns the schema of every call that c describes: an object with
// method and params.
func callsSchema(c *catalog.Catalog) ([]byte, error) {
	var oneOf scan.Array
	for _, m := range c.Methods {
		oneOf.Add(callSchema(&m))
	}
	var o scan.Object
	o.Add("$schema", []byte(schemaDialect))
	o.SomeText("title", c.Info.Name)
	o.Add("oneOf", oneOf.End())
	if len(c.Defs) > 0 {
		defs, err := json.Marshal(c.Defs)
		if err != nil {
			return nil, err
		}
		o.Add("$defs", defs)
	}
	return o.End(), nil
}

// callSchema returns the schema of a call of one method.
func callSchema(m *catalog.Method) []byte {
	var properties, o scan.Object
	properties.Add("method", scan.Pair("const", scan.AppendQuoted(nil, m.Name)))
	properties.Add("params", m.Params)
	o.Text("type", "object")
	o.SomeText("description", m.Description)
	o.Add("properties", properties.End())
	o.Add("required", []byte(`["method"]`))
	return o.End()
}

package commands

import (
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// describeForms are the values of describe --format.
var describeForms = []string{"catalog", "openrpc", "jsonschema"}

// describeAs returns a catalog in the format form: as a catalog, as an OpenRPC document, or as a JSON Schema of calls.
func describeAs(form string, c *catalog.Catalog) ([]byte, error) {
	switch form {
	case "openrpc":
		return jsonrpc.ToOpenRPC(c), nil
	case "jsonschema":
		return callsSchema(c), nil
	}
	return c.MarshalIndent()
}

// methodAs is like describeAs, but for one method, whose schemas contain the definitions that they use. In the format
// jsonschema, it returns the schema of the params.
func methodAs(form string, c *catalog.Catalog, m *catalog.Method) []byte {
	one := c.Clone()
	one.Methods = []catalog.Method{*m}
	switch form {
	case "openrpc":
		return jsonrpc.ToOpenRPC(one)
	case "jsonschema":
		return paramsSchema(c, m)
	}
	return scan.JSON(&one.SelfContained().Methods[0])
}

const schemaDialect = `"https://json-schema.org/draft/2020-12/schema"`

// paramsSchema returns the schema of a method's params with all its definitions.
func paramsSchema(c *catalog.Catalog, m *catalog.Method) []byte {
	schema := []byte(m.Params)
	if scan.Type(schema) != 'o' {
		schema = []byte("{}")
	}
	if len(c.Defs) > 0 {
		schema = scan.Splice(schema, "$defs", scan.JSON(c.Defs))
	}
	if m.Description != "" && scan.Get(schema, "description") == nil {
		schema = scan.Splice(schema, "description", scan.AppendQuoted(nil, m.Description))
	}
	return scan.Splice(schema, "$schema", []byte(schemaDialect))
}

// callsSchema returns the schema of all calls in c. A call is an object with method and params.
func callsSchema(c *catalog.Catalog) []byte {
	var oneOf scan.Array
	for _, m := range c.Methods {
		oneOf.Add(callSchema(&m))
	}
	var o scan.Object
	o.Add("$schema", []byte(schemaDialect))
	o.SomeText("title", c.Info.Name)
	o.Add("oneOf", oneOf.End())
	if len(c.Defs) > 0 {
		o.Add("$defs", scan.JSON(c.Defs))
	}
	return o.End()
}

// callSchema returns the schema of calls of one method.
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

package finding

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A listing is a method with which servers without a specific dialect describe themselves.
type listing struct {
	method string
	reads  func(result json.RawMessage) *catalog.Catalog // returns nil if the result is not such a description
	of     string                                        // the listing that precedes this one, for a single method; "" if this one lists all
	tells  func(m *catalog.Method, result json.RawMessage)
}

// listings is in the order of requests: the most informative first, and names with other meanings on some servers last.
var listings = []listing{
	{method: "core.describe", reads: described},   // Mopidy
	{method: "rpc.serverInfo", reads: listed},     // jrpc2
	{method: "rpc_methods", reads: listed},        // Substrate, smoldot
	{method: "system.listMethods", reads: listed}, // XML-RPC's introspection
	{method: "system.methodSignature", of: "system.listMethods", tells: signed},
	{method: "system.methodHelp", of: "system.listMethods", tells: explained},
	{method: "system.describe", reads: procedures}, // JSON-RPC 1.1
	{method: "rpc_modules", reads: modules},        // Ethereum nodes
	{method: "listMethods", reads: listed},
	{method: "help", reads: helped},     // bitcoind
	{method: "commands", reads: helped}, // Electrum
}

// message returns the request of a listing. about is the single method that it describes, or "".
func (l *listing) message(id json.RawMessage, about string) json.RawMessage {
	var o scan.Object
	o.Text("jsonrpc", "2.0")
	o.Add("id", id)
	o.Text("method", l.method)
	if l.of != "" {
		o.Add("params", scan.ArrayOf(scan.AppendQuoted(nil, about)))
	}
	return o.End()
}

// signed reads the signatures of a method: the types of the result and of the params. It uses only the first signature.
func signed(m *catalog.Method, result json.RawMessage) {
	types := map[string]string{
		"int": "integer", "i4": "integer", "double": "number", "boolean": "boolean", "string": "string", "array": "array", "struct": "object", "nil": "null",
	}
	schemas := wire.Map(scan.List(scan.First(result)), func(name json.RawMessage) []byte {
		if t := types[scan.String(name)]; t != "" {
			return scan.Pair("type", scan.AppendQuoted(nil, t))
		}
		return []byte("{}")
	})
	if schemas == nil {
		return
	}
	params := schemas[1:]
	var o scan.Object
	o.Text("type", "array")
	o.Add("prefixItems", scan.ArrayOf(params...))
	o.Int("minItems", int64(len(params)))
	o.Int("maxItems", int64(len(params)))
	m.Result, m.Params = schemas[0], o.End()
}

// explained reads the description of a method.
func explained(m *catalog.Method, result json.RawMessage) {
	m.Description = cmp.Or(m.Description, scan.String(result))
}

// listed reads a list of names or of objects with names, or such a list in the member methods.
func listed(result json.RawMessage) *catalog.Catalog {
	if scan.Type(result) == 'o' {
		result = scan.Get(result, "methods")
	}
	if scan.Type(result) != 'a' {
		return nil
	}
	c := &catalog.Catalog{Catalog: 1, Methods: []catalog.Method{}}
	for v := range scan.Elements(result) {
		m := catalog.Method{Name: cmp.Or(scan.String(v), scan.String(scan.Get(v, "name"))), Description: scan.String(scan.Get(v, "description"))}
		if m.Name != "" {
			c.Methods = append(c.Methods, m)
		}
	}
	return received(c, 1)
}

// described reads an object of methods, each with a description and a list of params.
func described(result json.RawMessage) *catalog.Catalog {
	c := &catalog.Catalog{Catalog: 1, Methods: []catalog.Method{}}
	for name, val := range scan.Named(result) {
		if scan.Type(val) != 'o' {
			return nil
		}
		m := catalog.Method{Name: name, Description: scan.String(scan.Get(val, "description"))}
		if list := scan.Get(val, "params"); scan.Type(list) == 'a' {
			m.Params = paramsOf(list)
		}
		c.Methods = append(c.Methods, m)
	}
	return received(c, 1)
}

// paramsOf returns the schema of params from a list of names. Params with a default are optional.
func paramsOf(list json.RawMessage) json.RawMessage {
	var properties, schema scan.Object
	required := scan.AppendArray(nil)
	for v := range scan.Elements(list) {
		name, ok := scan.Text(scan.Get(v, "name"))
		if !ok || scan.Get(v, "kwargs") != nil || scan.Get(v, "varargs") != nil {
			continue
		}
		if val := scan.Get(v, "default"); val != nil {
			properties.Add(name, scan.Pair("default", val))
			continue
		}
		required.Text(name)
		properties.Add(name, []byte("{}"))
	}
	schema.Text("type", "object")
	schema.Add("properties", properties.End())
	schema.Add("required", required.End())
	return schema.End()
}

// modules reads an object of modules with their versions. The catalog has no methods.
func modules(result json.RawMessage) *catalog.Catalog {
	if scan.Type(result) != 'o' {
		return nil
	}
	c := received(&catalog.Catalog{Catalog: 1, Methods: []catalog.Method{}, Extra: scan.Pair("modules", result)}, 0)
	c.SetPartial("the server lists its modules, but not their methods")
	return c
}

// procedures reads a service description of JSON-RPC 1.1, whose procs have names and params.
func procedures(result json.RawMessage) *catalog.Catalog {
	c := listed(scan.Get(result, "procs"))
	if c == nil {
		return nil
	}
	c.Info.Name, c.Info.Version = scan.String(scan.Get(result, "name")), scan.String(scan.Get(result, "version"))
	c.Info.Description = scan.String(scan.Get(result, "summary"))
	return c
}

// isName matches the names of methods in a help text.
var isName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]+$`) })

// isUsage matches a text whose lines begin with a name. The first line also has a placeholder (btcd).
var isUsage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][a-z0-9_]+ ["(\[{<][^\n]*(\n[a-z][a-z0-9_]+( [^\n]*[^.\n])?)+\n?$`)
})

// helped reads text with a line for each method. Each line begins with the method's name, under headings (bitcoind), with
// placeholders (btcd), or alone.
func helped(result json.RawMessage) *catalog.Catalog {
	text, ok := scan.Text(result)
	if !ok {
		return listed(result)
	}
	c := &catalog.Catalog{Catalog: 1, Methods: []catalog.Method{}}
	add := func(name, usage string) (ok bool) {
		if ok = isName().MatchString(name); ok {
			c.Methods = append(c.Methods, catalog.Method{Name: name, Description: usage})
		}
		return ok
	}
	headings := strings.HasPrefix(text, "== ") || isUsage().MatchString(text)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "== "):
		case headings:
			usage := line
			if usage == name {
				usage = ""
			}
			add(name, usage)
		default: // names only
			for name := range strings.FieldsSeq(line) {
				if !add(name, "") {
					return nil
				}
			}
		}
	}
	return received(c, 2) // a word is not a list
}

// received returns a response in the form of a catalog that contains only that response, or nil if it has fewer methods than least.
func received(c *catalog.Catalog, least int) *catalog.Catalog {
	if c, _ = catalog.Received(c, nil); len(c.Methods) < least {
		return nil
	}
	return c
}

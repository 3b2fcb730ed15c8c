package jsonrpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// extensionPrefix is the prefix of catalog members that OpenRPC does not have.
const extensionPrefix = "x-rpcx-"

// ownMembers are the members of a catalog's methods that have this prefix.
var ownMembers = []string{"params", "kind", "events", "effects", "hints", "cache", "stream"}

// Describe requests the OpenRPC document with rpc.discover. It returns wire.ErrUnsupported if the peer lacks the
// method.
func (c *codec) Describe(ctx context.Context, caller dialect.Caller) (*catalog.Catalog, error) {
	doc, err := dialect.Discover(ctx, caller, discover)
	if err != nil {
		return nil, err
	}
	cat, err := FromOpenRPC(doc)
	if err != nil {
		return nil, err
	}
	if c.o.Version == V1 {
		cat.Dialect = "jsonrpc1"
	}
	return cat, nil
}

// FromOpenRPC reads an OpenRPC document. Unknown members become members of Extra. Errors are Faults of kind Protocol.
func FromOpenRPC(doc json.RawMessage) (*catalog.Catalog, error) {
	if err := scan.Valid(doc, wire.DefaultMaxDepth); err != nil || scan.Type(bytes.TrimSpace(doc)) != 'o' {
		return nil, badDocument("it is not a JSON object")
	}
	doc = bytes.ReplaceAll(doc, []byte(`"#/components/schemas/`), []byte(`"#/$defs/`))
	c := &catalog.Catalog{Catalog: 1, Dialect: "jsonrpc", Methods: []catalog.Method{}}
	var extra builder
	var methods, components []byte
	for key, val := range scan.Named(doc) {
		switch key {
		case "info":
			readInfo(c, &extra, val)
		case "methods":
			methods = val
		case "components":
			components = val
			readComponents(c, &extra, val)
		case extensionPrefix + "classes":
			_ = json.Unmarshal(val, &c.Classes)
		case extensionPrefix + "constants":
			c.Constants = val
		case extensionPrefix + "extra":
			extra.merge(val)
		default:
			extra.add(key, val)
		}
	}
	c.Extra = extra.json()
	if scan.Type(methods) != 'a' {
		return nil, badDocument("it has no methods")
	}
	descriptors := scan.Get(components, "contentDescriptors")
	for val := range scan.Elements(methods) {
		if m, ok := readMethod(val, descriptors); ok {
			c.Methods = append(c.Methods, m)
		}
	}
	return c, nil
}

func badDocument(what string) error {
	return wire.NewFault(wire.Protocol, "the response to rpc.discover is not an OpenRPC document: "+what, nil)
}

func readInfo(c *catalog.Catalog, extra *builder, info []byte) {
	text := func(key string) string { return scan.String(scan.Get(info, key)) }
	c.Info = catalog.Info{Name: text("title"), Version: text("version"), Description: text("description")}
	var rest builder
	rest.merge(info, "title", "version", "description")
	extra.add("info", rest.json())
}

func readComponents(c *catalog.Catalog, extra *builder, components []byte) {
	for name, schema := range scan.Named(scan.Get(components, "schemas")) {
		wire.Put(&c.Defs, name, schema)
	}
	var rest builder
	rest.merge(components, "schemas")
	extra.add("components", rest.json())
}

// kinds contains the default kinds of methods without and with a result.
var kinds = map[bool]catalog.Kind{false: catalog.Notify, true: catalog.Call}

// readMethod reads one method object. It returns false for an object without a name, such as a reference to a method.
func readMethod(val, descriptors []byte) (catalog.Method, bool) {
	var m catalog.Method
	var extra, own builder
	var params []byte
	summary, structure, result := "", "", false
	for key, v := range scan.Named(val) {
		switch key {
		case "name":
			m.Name = scan.String(v)
		case "description":
			m.Description = scan.String(v)
		case "summary":
			summary = scan.String(v)
		case "params":
			params = v
		case "paramStructure":
			structure = scan.String(v)
		case "result":
			result = true
			m.Result = readResult(resolve(v, descriptors), &extra)
		case extensionPrefix + "extra":
			extra.merge(v)
		default:
			if name, ok := strings.CutPrefix(key, extensionPrefix); ok && slices.Contains(ownMembers, name) {
				own.add(name, v)
			} else {
				extra.add(key, v)
			}
		}
	}
	type members catalog.Method                    // whose other members Unmarshal keeps
	_ = json.Unmarshal(own.json(), (*members)(&m)) // skips members of another type
	m.Kind = cmp.Or(m.Kind, kinds[result])
	switch {
	case summary != "" && m.Description == "":
		m.Description = summary
	case summary != "":
		extra.add("summary", scan.AppendQuoted(nil, summary))
	}
	if m.Params == nil {
		m.Params = paramsSchema(params, structure, descriptors)
	}
	m.Extra = extra.json()
	return m, m.Name != ""
}

// readResult returns the schema of a result. extra receives the rest of its descriptor.
func readResult(val []byte, extra *builder) json.RawMessage {
	other := []string{"schema"}
	if scan.String(scan.Get(val, "name")) == "result" {
		other = append(other, "name")
	}
	var rest builder
	rest.merge(val, other...)
	extra.add("result", rest.json())
	schema := scan.Get(val, "schema")
	if s := string(schema); s == "{}" || s == "true" {
		return nil
	}
	return schema
}

// paramsSchema returns one schema for a list of parameters: an object for parameters by name, an array for those by
// position, and both if either is allowed.
func paramsSchema(params []byte, structure string, descriptors []byte) json.RawMessage {
	var props builder
	var items, required scan.Array
	n, least := 0, 0
	for val := range scan.Elements(params) {
		d := resolve(val, descriptors)
		name, schema := scan.Get(d, "name"), described(d)
		n++
		props.add(scan.String(name), schema)
		if structure == "by-position" {
			schema = titled(schema, name) // keeps the name
		}
		items.Compact(schema)
		if string(scan.Get(d, "required")) == "true" {
			required.Add(name)
			least = n
		}
	}
	var o builder
	switch {
	case n == 0:
		return nil
	case structure == "by-position":
		o.add("type", []byte(`"array"`))
	case structure == "by-name":
		o.add("type", []byte(`"object"`))
	default:
		o.add("type", []byte(`["object","array"]`))
	}
	if structure != "by-position" {
		o.add("properties", props.json())
		o.add("required", required.EndOrNil())
	}
	if structure != "by-name" {
		o.add("prefixItems", items.End())
		if least > 0 {
			o.add("minItems", strconv.AppendInt(nil, int64(least), 10))
		}
	}
	return o.json()
}

// described returns the schema of a parameter, with the parameter's description if the schema has none.
func described(descriptor []byte) []byte {
	return withMember(scan.Or(scan.Get(descriptor, "schema"), []byte("{}")), "description", scan.Get(descriptor, "description"))
}

// withMember returns a schema with a member, unless val is nil, the schema has that member, or it is not an object.
func withMember(schema []byte, name string, val []byte) []byte {
	if val == nil || scan.Type(schema) != 'o' || scan.Get(schema, name) != nil {
		return schema
	}
	return scan.Splice(schema, name, val)
}

// titled returns a schema with a title. It keeps an existing title.
func titled(schema, title []byte) []byte {
	if string(schema) == "true" {
		schema = []byte("{}")
	}
	if scan.Type(title) != 's' {
		return schema
	}
	return withMember(schema, "title", title)
}

// resolve follows a reference into components.contentDescriptors.
func resolve(val, descriptors []byte) []byte {
	const prefix = "#/components/contentDescriptors/"
	if name, ok := strings.CutPrefix(scan.String(scan.Get(val, "$ref")), prefix); ok {
		return scan.Get(descriptors, name)
	}
	return val
}

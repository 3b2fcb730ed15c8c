package jsonrpc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// ToOpenRPC writes a catalog as an OpenRPC document. Its $defs become components.schemas. Members that OpenRPC does not
// have get the prefix "x-rpcx-", which FromOpenRPC understands. It never writes "run".
func ToOpenRPC(c *catalog.Catalog) json.RawMessage {
	var doc builder
	doc.add("openrpc", scan.Or(scan.Get(c.Extra, "openrpc"), []byte(`"1.3.2"`)))
	doc.add("info", writeInfo(c, scan.Get(c.Extra, "info")))
	var methods scan.Array
	for i := range c.Methods {
		methods.Compact(writeMethod(&c.Methods[i]))
	}
	doc.add("methods", methods.End())
	doc.add("components", writeComponents(c, scan.Get(c.Extra, "components")))
	for _, word := range []string{"servers", "externalDocs", "tags"} {
		doc.add(word, scan.Get(c.Extra, word))
	}
	if len(c.Classes) > 0 {
		doc.add(extensionPrefix+"classes", scan.JSON(c.Classes))
	}
	doc.add(extensionPrefix+"constants", c.Constants)
	writeRest(&doc, c.Extra, documentWords)
	return bytes.ReplaceAll(doc.json(), []byte(`"#/$defs/`), []byte(`"#/components/schemas/`))
}

// documentWords and methodWords are the OpenRPC members that a catalog keeps in its extra.
var (
	documentWords = []string{"openrpc", "info", "components", "servers", "externalDocs", "tags"}
	methodWords   = []string{"summary", "tags", "deprecated", "servers", "errors", "links", "examples", "externalDocs", "result"}
)

func writeInfo(c *catalog.Catalog, rest []byte) []byte {
	var info builder
	info.addText("title", cmp.Or(c.Info.Name, "rpcx"))
	info.addText("version", cmp.Or(c.Info.Version, "0.0.0")) // a version is required
	info.addText("description", c.Info.Description)
	info.merge(rest)
	return info.json()
}

func writeComponents(c *catalog.Catalog, rest []byte) []byte {
	var components, schemas builder
	for _, name := range slices.Sorted(maps.Keys(c.Defs)) {
		schemas.add(name, c.Defs[name])
	}
	components.add("schemas", schemas.json())
	components.merge(rest)
	return components.json()
}

func writeMethod(m *catalog.Method) []byte {
	var o builder
	o.add("name", scan.AppendQuoted(nil, m.Name))
	o.addText("description", m.Description)
	o.add("summary", scan.Get(m.Extra, "summary"))
	params, structure, exact := descriptors(m.Params)
	o.addText("paramStructure", structure)
	o.add("params", params)
	if !exact {
		o.add(extensionPrefix+"params", m.Params)
	}
	if m.Kind != catalog.Notify {
		var result builder
		rest := scan.Get(m.Extra, "result")
		if scan.Get(rest, "name") == nil {
			result.add("name", []byte(`"result"`))
		}
		result.merge(rest)
		result.add("schema", scan.Or(m.Result, []byte("{}")))
		o.add("result", result.json())
	}
	own := catalog.Method{Kind: m.Kind, Events: m.Events, Effects: m.Effects, Hints: m.Hints, Cache: m.Cache, Stream: m.Stream}
	if own.Kind == catalog.Call {
		own.Kind = ""
	}
	for name, val := range scan.Named(scan.JSON(own)) {
		if slices.Contains(ownMembers, name) {
			o.add(extensionPrefix+name, val)
		}
	}
	for _, word := range methodWords {
		if word != "summary" && word != "result" {
			o.add(word, scan.Get(m.Extra, word))
		}
	}
	writeRest(&o, m.Extra, methodWords)
	return o.json()
}

// descriptors converts a schema to a list of parameters. exact reports that the list is equivalent to the schema.
func descriptors(schema json.RawMessage) (params []byte, structure string, exact bool) {
	if len(schema) == 0 {
		return []byte("[]"), "", true
	}
	var list scan.Array
	var required []string
	_ = json.Unmarshal(scan.Get(schema, "required"), &required)
	for name, s := range scan.Named(scan.Get(schema, "properties")) {
		var d builder
		d.add("name", scan.AppendQuoted(nil, name))
		if slices.Contains(required, name) {
			d.add("required", []byte("true"))
		}
		d.add("schema", s)
		list.Compact(d.json())
	}
	structure = "by-name"
	if scan.String(scan.Get(schema, "type")) == "array" {
		structure = "by-position"
		n, names := 0, map[string]bool{}
		for s := range scan.Elements(scan.Get(schema, "prefixItems")) {
			n++
			var d builder
			name := scan.String(scan.Get(s, "title"))
			if name == "" || names[name] {
				name = "arg" + strconv.Itoa(n)
			}
			names[name] = true
			d.add("name", scan.AppendQuoted(nil, name))
			d.add("schema", s)
			list.Compact(d.json())
		}
	}
	params = list.End()
	return params, structure, scan.Equal(paramsSchema(params, structure, nil), schema)
}

// writeRest adds the members of an extra that OpenRPC does not have: extensions, and others as one extension. words are
// OpenRPC's members.
func writeRest(o *builder, extra json.RawMessage, words []string) {
	var others builder
	for key, val := range scan.Named(extra) {
		switch {
		case slices.Contains(words, key):
		case strings.HasPrefix(key, "x-"):
			o.add(key, val)
		default:
			others.add(key, val)
		}
	}
	o.add(extensionPrefix+"extra", others.json())
}

// builder writes an object. It ignores empty values, and further values of a key.
type builder struct {
	o    scan.Object
	keys map[string]bool
}

func (b *builder) add(key string, val []byte) {
	if b.keys[key] || len(val) == 0 {
		return
	}
	wire.Put(&b.keys, key, true)
	b.o.Compact(key, val)
}

func (b *builder) addText(key, text string) {
	if text != "" {
		b.add(key, scan.AppendQuoted(nil, text))
	}
}

// merge adds the members of obj, except those named in but.
func (b *builder) merge(obj []byte, but ...string) {
	for key, val := range scan.Named(scan.Without(obj, but...)) {
		b.add(key, val)
	}
}

// json returns the object, or nil for an empty one.
func (b *builder) json() json.RawMessage { return b.o.EndOrNil() }

package jsonrpc

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// ToOpenRPC writes a catalog as an OpenRPC document. Its $defs become
// components.schemas; what OpenRPC has no word for is written with the prefix
// "x-rpcx-", and FromOpenRPC reads it back. "run" is never written.
func ToOpenRPC(c *catalog.Catalog) json.RawMessage {
	var doc builder
	extra := split(c.Extra, documentWords)
	doc.add("openrpc", or(extra.known["openrpc"], `"1.3.2"`))
	doc.add("info", writeInfo(c, extra.known["info"]))
	var methods builder
	for i := range c.Methods {
		methods.element(writeMethod(&c.Methods[i]))
	}
	doc.add("methods", methods.array())
	if components := writeComponents(c, extra.known["components"]); components != nil {
		doc.add("components", components)
	}
	for _, word := range []string{"servers", "externalDocs", "tags"} {
		doc.addSome(word, extra.known[word])
	}
	if len(c.Classes) > 0 {
		classes, _ := json.Marshal(c.Classes)
		doc.add(ours+"classes", classes)
	}
	doc.addSome(ours+"constants", c.Constants)
	extra.write(&doc)
	return bytes.ReplaceAll(doc.json(), []byte(`"#/$defs/`), []byte(`"#/components/schemas/`))
}

// The members of OpenRPC's objects that a catalog keeps as extra.
var (
	documentWords = []string{"openrpc", "info", "components", "servers", "externalDocs", "tags"}
	methodWords   = []string{"summary", "tags", "deprecated", "servers", "errors", "links", "examples", "externalDocs", "result"}
)

func writeInfo(c *catalog.Catalog, rest []byte) []byte {
	var info builder
	name, version := c.Info.Name, c.Info.Version
	if name == "" {
		name = "rpcx"
	}
	if version == "" {
		version = "0.0.0" // it must be there
	}
	info.add("title", scan.AppendQuoted(nil, name))
	info.add("version", scan.AppendQuoted(nil, version))
	info.addText("description", c.Info.Description)
	info.merge(rest)
	return info.json()
}

func writeComponents(c *catalog.Catalog, rest []byte) []byte {
	var components, schemas builder
	for _, name := range slices.Sorted(maps.Keys(c.Defs)) {
		schemas.add(name, c.Defs[name])
	}
	if schemas.b != nil {
		components.add("schemas", schemas.json())
	}
	components.merge(rest)
	return components.json()
}

func writeMethod(m *catalog.Method) []byte {
	var o builder
	extra := split(m.Extra, methodWords)
	o.add("name", scan.AppendQuoted(nil, m.Name))
	o.addText("description", m.Description)
	o.addSome("summary", extra.known["summary"])
	params, structure, exact := descriptors(m.Params)
	o.addText("paramStructure", structure)
	o.add("params", params)
	if !exact {
		o.add(ours+"params", m.Params)
	}
	if m.Kind != catalog.Notify {
		var result builder
		if scan.Get(extra.known["result"], "name") == nil {
			result.add("name", []byte(`"result"`))
		}
		result.merge(extra.known["result"])
		result.add("schema", or(m.Result, "{}"))
		o.add("result", result.json())
	}
	if m.Kind != "" && m.Kind != catalog.Call {
		o.addText(ours+"kind", string(m.Kind))
	}
	if len(m.Events) > 0 {
		events, _ := json.Marshal(m.Events)
		o.add(ours+"events", events)
	}
	if len(m.Effects) > 0 {
		effects, _ := json.Marshal(m.Effects)
		o.add(ours+"effects", effects)
	}
	o.addSome(ours+"hints", m.Hints)
	o.addSome(ours+"cache", m.Cache)
	for _, word := range methodWords {
		if word != "summary" && word != "result" {
			o.addSome(word, extra.known[word])
		}
	}
	extra.write(&o)
	return o.json()
}

// descriptors makes a list of parameters of a schema. exact says that the list
// says all that the schema does.
func descriptors(schema json.RawMessage) (params []byte, structure string, exact bool) {
	if len(schema) == 0 {
		return []byte("[]"), "", true
	}
	var list builder
	var required []string
	_ = json.Unmarshal(scan.Get(schema, "required"), &required)
	for name, s := range each(scan.Get(schema, "properties")) {
		var d builder
		d.add("name", scan.AppendQuoted(nil, name))
		if slices.Contains(required, name) {
			d.add("required", []byte("true"))
		}
		d.add("schema", s)
		list.element(d.json())
	}
	structure = "by-name"
	if textOf(scan.Get(schema, "type")) == "array" {
		structure = "by-position"
		n, names := 0, map[string]bool{}
		for s := range elements(scan.Get(schema, "prefixItems")) {
			n++
			var d builder
			name := textOf(scan.Get(s, "title"))
			if name == "" || names[name] {
				name = "arg" + strconv.Itoa(n)
			}
			names[name] = true
			d.add("name", scan.AppendQuoted(nil, name))
			d.add("schema", s)
			list.element(d.json())
		}
	}
	params = list.array()
	return params, structure, scan.Equal(paramsSchema(params, structure, nil), schema)
}

// parts are the extra members of a catalog's object: those that OpenRPC has a
// place for, extensions, and what is neither.
type parts struct {
	known      map[string]json.RawMessage
	extensions builder
	without    builder
}

func split(extra json.RawMessage, words []string) parts {
	p := parts{known: map[string]json.RawMessage{}}
	for key, val := range each(extra) {
		switch {
		case slices.Contains(words, key):
			p.known[key] = val
		case strings.HasPrefix(key, "x-"):
			p.extensions.add(key, val)
		default:
			p.without.add(key, val)
		}
	}
	return p
}

// write adds what has no place of its own.
func (p *parts) write(o *builder) {
	o.merge(p.extensions.json())
	o.addSome(ours+"extra", p.without.json())
}

// builder builds a JSON object or array; the first value of a key stays.
type builder struct {
	b    []byte
	keys map[string]bool
}

func (o *builder) add(key string, val []byte) {
	if o.keys[key] {
		return
	}
	if o.keys == nil {
		o.keys = map[string]bool{}
	}
	o.keys[key] = true
	o.b = append(scan.AppendQuoted(o.comma(), key), ':')
	o.b = scan.Compact(o.b, val)
}

func (o *builder) element(val []byte) { o.b = scan.Compact(o.comma(), val) }

func (o *builder) comma() []byte {
	if o.b == nil {
		return []byte{'{'}
	}
	return append(o.b, ',')
}

func (o *builder) addText(key, text string) {
	if text != "" {
		o.add(key, scan.AppendQuoted(nil, text))
	}
}

func (o *builder) addSome(key string, val []byte) {
	if len(val) > 0 {
		o.add(key, val)
	}
}

// merge adds the members of obj.
func (o *builder) merge(obj []byte) {
	for key, val := range each(obj) {
		o.add(key, val)
	}
}

// json is the object; nil when it is empty.
func (o *builder) json() json.RawMessage {
	if o.b == nil {
		return nil
	}
	return append(bytes.Clone(o.b), '}')
}

// array is what element built.
func (o *builder) array() []byte {
	if o.b == nil {
		return []byte("[]")
	}
	b := append(bytes.Clone(o.b), ']')
	b[0] = '['
	return b
}

// each goes through the members of an object; nothing in anything else.
func each(obj []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		m := scan.Object(obj, wire.DefaultMaxDepth)
		for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
			if !yield(scan.Key(key), val) {
				return
			}
		}
	}
}

// elements goes through the elements of an array; nothing in anything else.
func elements(array []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		m := scan.Array(array, wire.DefaultMaxDepth)
		for _, val, ok := m.Next(); ok; _, val, ok = m.Next() {
			if !yield(val) {
				return
			}
		}
	}
}

func textOf(val []byte) string {
	text, _ := scan.Text(val)
	return text
}

func or(val []byte, instead string) []byte {
	if len(val) == 0 {
		return []byte(instead)
	}
	return val
}

func itoa(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

package bridge

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// An offer is a method of the peer, and how requests for it are translated.
type offer struct {
	name    string // the peer's name for the method
	kind    catalog.Kind
	params  json.RawMessage
	titles  []string // clients send the params as an object with these members, and the peer receives them in this order
	wrapped bool     // clients send the params in the member "params" of an object
	args    bool     // clients may send positional arguments in the member "args" of an object
	array   bool     // clients receive the items of the stream as one array
}

// original is the name of a member in a method's Extra. That member contains the peer's name for the method.
const original = "original"

// translate makes the listener's catalog, and the offers, from the peer's catalog.
func (b *Bridge) translate(offered *catalog.Catalog) {
	c := &catalog.Catalog{Catalog: 1, Dialect: b.here.Name, Info: offered.Info, Methods: []catalog.Method{}, Defs: offered.Defs}
	c.Info.Extra = nil
	keep := offered.Keep()
	c.Private = keep.Private || keep.Age == nil
	for _, m := range offered.Methods {
		if alone := b.spec.Bridge.Alone; alone != nil && !alone(&m) {
			b.Lacks = append(b.Lacks, m.Name)
			continue
		}
		o := &offer{name: m.Name, kind: m.Kind, params: m.Params}
		if o.kind == "" && b.spec.Catalog.CallsStream {
			o.kind = catalog.Stream
		}
		if !b.streamed(o) {
			b.Lacks = append(b.Lacks, m.Name+" (its stream may never end)")
			continue
		}
		t := b.method(m, o)
		b.offers[b.here.Names.ForHooks(t.Name)] = o
		c.Methods = append(c.Methods, t)
	}
	b.Lacks = append(b.Lacks, b.cannotCross(offered)...)
	if len(b.Lacks) > 0 {
		lacks := "Not offered here: " + strings.Join(b.Lacks, ", ") + "."
		c.Info.Description = strings.TrimSpace(c.Info.Description + "\n" + lacks)
	}
	b.catalog = c
}

// streamed decides how to offer a streaming method. It returns false if clients could receive the items only as an array but the
// stream may never end.
func (b *Bridge) streamed(o *offer) bool {
	endless := b.spec.Bridge.Endless
	if find := b.spec.Bridge.Streams; find != nil && (o.kind == "" || o.kind == catalog.Stream) {
		if streams, never := find(o.name); streams {
			o.kind, endless = catalog.Stream, never
		}
	}
	if o.kind == catalog.Stream && b.isWhole(o.name) {
		o.array = !endless
		return o.array
	}
	return true
}

func (b *Bridge) isWhole(method string) bool {
	if b.own(method) && b.here.Bridge.Streams != nil {
		if streams, _ := b.here.Bridge.Streams(method); streams {
			return false
		}
	}
	return b.here.Bridge.NoStreams || b.here.Bridge.Whole != nil && b.here.Name != b.spec.Name && b.here.Bridge.Whole(b.listed(method))
}

// listed returns the listener's name for a peer's method. If several methods get the same name, free makes it unique.
func (b *Bridge) listed(method string) string {
	if say := b.here.Bridge.Name; say != nil && !b.own(method) {
		return say(method)
	}
	return method
}

// method returns m in a form that the listener's dialect allows.
func (b *Bridge) method(m catalog.Method, o *offer) catalog.Method {
	t := catalog.Method{
		Name: b.free(m.Name), Kind: o.kind, Description: m.Description, Params: m.Params, Result: m.Result,
		Events: m.Events, Effects: m.Effects, Hints: m.Hints,
	}
	t.Kind = cmp.Or(t.Kind, catalog.Call)
	if b.spec.Bridge.Fields != nil {
		t.Params, t.Hints = withFields(m), nil
	}
	if b.here.Bridge.Objects {
		o.titles = titles(t.Params)
	}
	if o.titles != nil {
		t.Params = titled(t.Params, o.titles)
	} else if b.here.Bridge.Objects && !isObject(t.Params) {
		o.wrapped = true
		var props, schema scan.Object
		props.Add("params", t.Params)
		schema.Text("type", "object")
		schema.Add("properties", props.End())
		t.Params = schema.End()
	}
	if o.args = b.spec.Bridge.ByPosition && b.here.Bridge.Objects && t.Params == nil; o.args {
		t.Params = json.RawMessage(`{"type":"object","properties":{"args":{"type":"array","description":"positional arguments"}}}`)
	}
	if o.kind == catalog.Job && b.spec.Bridge.Fields != nil {
		t.Result = nil // the event at the end of the job contains the result
	}
	if o.array {
		t.Kind, t.Events = catalog.Call, nil
		var schema scan.Object
		schema.Text("type", "array")
		schema.Add("items", t.Result)
		t.Result = schema.End()
	}
	if b.spec.Name == b.here.Name {
		t.Extra = m.Extra
	}
	if t.Name != m.Name {
		t.Extra = scan.Pair(original, scan.AppendQuoted(nil, m.Name))
		if b.here.Bridge.Described {
			t.Description = named(m)
		}
	}
	return t
}

// named returns the description of a method whose name differs in the listener's dialect.
func named(m catalog.Method) string {
	if m.Description == "" {
		return "named " + m.Name
	}
	return m.Description + " (named " + m.Name + ")"
}

// free returns an unused name, in the listener's dialect, for a peer's method.
func (b *Bridge) free(method string) string {
	name := b.listed(method)
	for n, base := 2, name; b.offers[b.here.Names.ForHooks(name)] != nil; n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	return name
}

// isObject reports whether a schema allows objects. A nil schema allows them.
func isObject(schema json.RawMessage) bool {
	kind, ok := scan.Text(scan.Get(schema, "type"))
	return !ok || kind == "object"
}

// withFields returns the schema of the params for a method whose requests also have a target and a parent. Clients send these
// two as members of the params.
func withFields(m catalog.Method) json.RawMessage {
	if m.Hints == nil || !isObject(m.Params) {
		return m.Params
	}
	var props, required scan.Object
	props.Inside(scan.Get(m.Params, "properties"))
	var names scan.Array
	for name := range scan.Elements(scan.Get(m.Params, "required")) {
		names.Add(name)
	}
	for _, field := range []string{"target", "parent"} {
		if scan.Get(m.Hints, field) == nil {
			continue
		}
		if scan.Get(scan.Get(m.Params, "properties"), field) == nil {
			var schema scan.Object
			schema.Add("type", []byte(`["string","integer"]`))
			props.Add(field, schema.End())
		}
		names.Add(scan.AppendQuoted(nil, field))
	}
	required.Text("type", "object")
	required.Add("properties", props.End())
	required.Add("required", names.End())
	for key, val := range scan.Named(m.Params) {
		if key != "type" && key != "properties" && key != "required" {
			required.Add(key, val)
		}
	}
	return required.End()
}

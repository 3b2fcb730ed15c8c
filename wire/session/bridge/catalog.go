package bridge

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
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
	if o.kind == "" && b.spec.Bridge.Streams != nil {
		var streams bool
		if streams, endless = b.spec.Bridge.Streams(o.name); streams {
			o.kind = catalog.Stream
		}
	}
	if o.kind == catalog.Stream && b.isWhole(o.name) {
		o.array = !endless
		return o.array
	}
	return true
}

func (b *Bridge) isWhole(method string) bool {
	return b.here.Bridge.NoStreams || b.here.Bridge.Whole != nil && b.here.Name != b.spec.Name && b.here.Bridge.Whole(b.listed(method))
}

// listed returns the listener's name for a peer's method. If several methods get the same name, free makes it unique.
func (b *Bridge) listed(method string) string {
	if say := b.here.Bridge.Name; say != nil {
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

// op converts a client's request to an operation on the peer.
func (b *Bridge) op(o *offer, r dialect.Request) (dialect.Op, error) {
	op := dialect.Op{Kind: dialect.Call, Method: o.name}
	if same := b.here.Bridge.Same; same != nil && b.here.Name == b.spec.Name && !r.Notification && (o.kind == "" || o.kind == catalog.Call) {
		op.Method, op.Params = same(o.name, r.Params)
		return op, nil
	}
	var err error
	if op.Params, err = o.plain(b, r.Params); err != nil {
		return op, err
	}
	if b.here.Bridge.Fields != nil && r.Input != nil {
		op.Params = withTarget(r.Input(r.Params), op.Params)
	}
	if fields := b.spec.Bridge.Fields; fields != nil {
		op.Extra, op.Params = fields(op.Params)
	}
	b.started(&op, o, r)
	return op, nil
}

// started sets the kind of op according to the request.
func (b *Bridge) started(op *dialect.Op, o *offer, r dialect.Request) {
	switch {
	case r.Notification:
		op.Kind = dialect.Notify
	case o.kind == catalog.Job && b.spec.Jobs != nil:
		if op.Kind = dialect.JobRun; b.spec.Bridge.Fields == nil {
			op.Extra = json.RawMessage(`{"bare":true}`) // only the result, without the event at the end of the job
		}
	case o.kind == catalog.Stream && !b.spec.Catalog.CallsStream:
		op.Kind = dialect.Subscribe
	}
}

// withTarget adds a request's target and parent to its params.
func withTarget(request, params json.RawMessage) json.RawMessage {
	target, parent := scan.Get(request, "target"), scan.Get(request, "parent")
	if target == nil && parent == nil || params != nil && scan.Type(params) != 'o' {
		return params
	}
	var o scan.Object
	o.Members(params)
	o.Add("target", target)
	o.Add("parent", parent)
	return o.End()
}

// carried returns params in a form that the messages of a dialect allow. Most dialects do not allow scalars.
func (b *Bridge) carried(params json.RawMessage, in dialect.Spec) json.RawMessage {
	switch kind := scan.Type(params); {
	case kind == 0 || kind == 'o' || kind == 'a', in.Params.Scalar, b.here.Name == b.spec.Name:
		return params
	case kind == '0':
		return nil
	}
	return scan.ArrayOf(params)
}

// plain converts a client's params to the form that the peer expects.
func (o *offer) plain(b *Bridge, params json.RawMessage) (json.RawMessage, error) {
	if plain := b.here.Bridge.Plain; plain != nil {
		var err error
		if params, err = plain(params); err != nil {
			return nil, err
		}
	}
	if o.titles != nil && scan.Type(params) == 'o' {
		return inOrder(params, o.titles)
	}
	if o.wrapped && scan.Type(params) == 'o' {
		if inner := scan.Get(params, "params"); inner != nil || len(scan.Trim(params)) == 2 {
			return b.carried(inner, b.spec), nil
		}
	}
	if args := scan.Get(params, "args"); o.args && scan.Type(params) == 'o' && scan.Count(params) == 1 && scan.Type(args) == 'a' {
		return args, nil
	}
	params = b.carried(params, b.spec)
	if scan.Type(params) == 'a' && isObject(o.params) {
		return byName(params, o.params), nil
	}
	return params, nil
}

// byName converts positional params to an object. The names are those in the schema, in the same order. If the only element is an
// object, byName returns that object instead.
func byName(params, schema json.RawMessage) json.RawMessage {
	if sole := scan.Only(params); sole != nil && scan.Type(sole) == 'o' {
		return sole
	}
	names := catalog.Keys(scan.Get(schema, "properties"))
	if len(names) < scan.Count(params) {
		return params
	}
	var o scan.Object
	i := 0
	for v := range scan.Elements(params) {
		o.Add(names[i], v)
		i++
	}
	return o.End()
}

package bridge

import (
	"encoding/json"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// wraps reports whether both sides have the same dialect, in which some calls contain the method of another call.
func (b *Bridge) wraps() bool { return b.here.Bridge.Same != nil && b.here.Name == b.spec.Name }

// own reports whether method is a method of the protocol of both sides, which no other call contains.
func (b *Bridge) own(method string) bool {
	if !b.wraps() {
		return false
	}
	sent, _ := b.here.Bridge.Same(method, nil)
	return sent == method
}

// op converts a client's request to an operation on the peer.
func (b *Bridge) op(o *offer, r dialect.Request) (dialect.Op, error) {
	op := dialect.Op{Kind: dialect.Call, Method: o.name}
	if b.wraps() && !r.Notification && (o.kind == "" || o.kind == catalog.Call) {
		op.Method, op.Params = b.here.Bridge.Same(o.name, r.Params)
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

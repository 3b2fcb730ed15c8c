package envelope

import (
	"encoding/json"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// A part is a value in the current message, with its path.
type part struct {
	path []string
	val  []byte
}

// message writes parts in order, and then the members of the objects in beside. Parts below the same top-level member are written
// together, at the position of the first.
func message(parts []part, beside ...[]byte) []byte {
	size := 32
	for i := range parts {
		size += len(parts[i].val) + 16
	}
	for _, more := range beside {
		size += len(more)
	}
	return appended(make([]byte, 0, size), parts, beside...)
}

// appended appends to b what message returns.
func appended(b []byte, parts []part, beside ...[]byte) []byte {
	o := scan.AppendObject(b)
	add(&o, parts)
	for _, more := range beside {
		o.Inside(more)
	}
	return o.End()
}

func add(o *scan.Object, parts []part) {
	for i, p := range parts {
		switch {
		case len(p.path) == 0 || len(p.val) == 0 || written(parts[:i], p.path[0]):
		case len(p.path) == 1:
			o.Compact(p.path[0], p.val)
		default:
			o.Add(p.path[0], nested(parts[i:], p.path[0]))
		}
	}
}

// written reports whether a part is in the top-level member name.
func written(parts []part, name string) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return len(p.path) > 0 && len(p.val) > 0 && p.path[0] == name })
}

// nested returns the parts below one top-level member, as an array if their paths continue with an index, and otherwise
// as an object.
func nested(parts []part, name string) []byte {
	var in []part
	for _, p := range parts {
		if len(p.path) > 1 && p.path[0] == name {
			in = append(in, part{p.path[1:], p.val})
		}
	}
	if index(in[0].path[0]) >= 0 {
		return elements(in)
	}
	var o scan.Object
	add(&o, in)
	return o.End()
}

// call writes a request or, if id is nil, a notification.
func (c *codec) call(id wire.ID, op *dialect.Op) ([]byte, error) {
	p, method, params, extra := c.plan, op.Method, op.Params, op.Extra
	prog, f, kind := p.page.Write.Notify, &p.event, "a notification"
	if c.o.Serving && p.page.Write.Event != nil {
		prog = p.page.Write.Event
	}
	if id != nil {
		prog, f, kind = p.page.Write.Request, &p.request, "a request"
	}
	if op.Kind == dialect.Subscribe && p.names.Stream != nil {
		f = p.forStream(extra)
	}
	if prog != nil {
		scope := c.scope()
		scope.Method, scope.Params, scope.ID, scope.Extra = method, params, json.RawMessage(id), extra
		return c.whole(prog, scope)
	}
	flat, err := c.lay(f, id, method, params)
	if err != nil {
		return nil, err
	}
	if p.array {
		return elements(c.parts), nil
	}
	raw := message(c.parts, flat, extra)
	return raw, c.allowed(raw, f.none, kind, method)
}

// forStream returns the form of a request for a stream. Members of extra replace the constants of the same names.
func (c *Plan) forStream(extra json.RawMessage) *form {
	f := c.request
	f.consts = slices.DeleteFunc(slices.Clone(c.opening), func(k constant) bool { return scan.Get(extra, k.path[0]) != nil })
	return &f
}

// Streams reports whether the answer to a request may be a stream. Without names.stream, it returns true, as does a nil
// Plan.
func (c *Plan) Streams(raw []byte) bool {
	if c == nil || c.names.Stream == nil {
		return true
	}
	return !slices.ContainsFunc(c.opening, func(k constant) bool { return !scan.Equal(along(raw, k.path), k.value) })
}

// lay sets c.parts for a request or, if id is nil, for a notification. The caller writes the members of flat after
// them.
func (c *codec) lay(f *form, id wire.ID, method string, params json.RawMessage) (flat json.RawMessage, err error) {
	params, flat, err = c.styled(f, method, params)
	if err != nil {
		return nil, err
	}
	p := c.plan
	c.begin(f.consts)
	switch {
	case id != nil && p.names.IDs != "none":
		c.put(p.request.id, id)
	case id == nil:
		c.parts = append(c.parts, c.numbered()...)
		if p.page.Base == "jsonrpc1" {
			c.put(p.request.id, null)
		}
	}
	if p.names.Params != "prefixed" {
		c.method = scan.AppendQuoted(c.method[:0], method)
		c.put(f.method, c.method)
	}
	if flat == nil {
		c.put(f.params, params)
	}
	return flat, nil
}

// begin sets c.parts to the constants.
func (c *codec) begin(consts []constant) {
	c.parts = c.parts[:0]
	for _, k := range consts {
		c.put(k.place, k.value)
	}
}

// put adds a value to c.parts; a value without a path is not written.
func (c *codec) put(at place, val []byte) { c.parts = append(c.parts, part{at.path, val}) }

// numbered returns an id for a notification if the dialect file gives ids to all messages.
func (c *codec) numbered() []part {
	if c.plan.names.Counter != "all" {
		return nil
	}
	return []part{{c.plan.request.id.path, c.newID()}}
}

// whole returns a message that a [write] program has written.
func (c *codec) whole(prog load.Prog, scope *program.Scope) ([]byte, error) {
	msg, err := prog.First(nil, scope.Value)
	if err == nil && scan.Type(msg) != 'o' && scan.Type(msg) != 'a' {
		err = prog.Fault("it did not return a message (an object or an array)", nil)
	}
	if err != nil {
		return nil, err
	}
	return c.counted(msg), nil
}

// counted adds an id to a message from a program if the dialect file gives ids to all messages and the program did not.
func (c *codec) counted(msg []byte) []byte {
	if at := c.plan.request.id.path; c.plan.names.Counter == "all" && len(at) == 1 && scan.Get(msg, at[0]) == nil {
		msg = scan.Splice(msg, at[0], c.newID())
	}
	return msg
}

// styled converts params to the form on the wire. The members of the object flat become top-level members of the
// message.
func (c *codec) styled(f *form, method string, params json.RawMessage) (styled, flat json.RawMessage, err error) {
	if params, err = c.plan.ordered(method, params); err != nil {
		return nil, nil, err
	}
	style, given := c.plan.names.Params, len(params) > 0
	if f == &c.plan.event && style == "flat" && !c.plan.flatEvents {
		style = "object"
	}
	if !given {
		params = c.plan.none()
	}
	switch style {
	case "prefixed":
		return prefixed(method, params, given), nil, nil
	case "flat":
		flat, err = membersOf(method, params, given)
		return nil, flat, err
	case "one":
		if !given || scan.Type(params) != 'a' || scan.Only(params) == nil {
			return scan.ArrayOf(scan.OrNull(params)), nil, nil
		}
	case "array":
		if given && scan.Type(params) != 'a' {
			return scan.ArrayOf(params), nil, nil
		}
	}
	return params, nil, nil
}

// membersOf returns the params that become top-level members of the message, or nil.
func membersOf(method string, params json.RawMessage, given bool) (json.RawMessage, error) {
	switch {
	case !given:
		return nil, nil
	case scan.Type(params) != 'o':
		return nil, wire.Usagef("%s: params are members of the message itself, and must be an object: key=value", method)
	}
	return params, nil
}

// prefixed returns an array of the method, followed by the params.
func prefixed(method string, params json.RawMessage, given bool) json.RawMessage {
	list := scan.AppendArray(nil)
	list.Text(method)
	switch {
	case !given:
	case scan.Type(params) == 'a':
		for val := range scan.Elements(params) {
			list.Compact(val)
		}
	default:
		list.Compact(params)
	}
	return list.End()
}

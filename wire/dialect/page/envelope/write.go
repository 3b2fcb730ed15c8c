package envelope

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// A part is a value of the message that is being written, and its place.
type part struct {
	path []string
	val  []byte
}

// message writes parts in their order; those below one top-level member stand
// where the first of them does. The members of the objects beside follow.
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

// appended is message behind what b holds.
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

// written reports whether one of the parts has that top-level member.
func written(parts []part, name string) bool {
	for _, p := range parts {
		if len(p.path) > 0 && len(p.val) > 0 && p.path[0] == name {
			return true
		}
	}
	return false
}

// nested writes the parts below one top-level member as its value: an array where numbers
// name them.
func nested(parts []part, name string) []byte {
	var in []part
	for _, p := range parts {
		if len(p.path) > 1 && p.path[0] == name {
			in = append(in, part{p.path[1:], p.val})
		}
	}
	if index(in[0].path[0]) >= 0 {
		return elements(nil, in)
	}
	var o scan.Object
	add(&o, in)
	return o.End()
}

// call writes a request, or without id a notification.
func (c *codec) call(id wire.ID, method string, params, extra json.RawMessage) ([]byte, error) {
	p := c.plan
	prog, f, kind := p.page.Write.Notify, &p.event, "a notification"
	if c.o.Serving && p.page.Write.Event != nil {
		prog = p.page.Write.Event
	}
	if id != nil {
		prog, f, kind = p.page.Write.Request, &p.request, "a request"
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
		return elements(nil, c.parts), nil
	}
	raw := message(c.parts, flat, extra)
	return raw, c.allowed(raw, f.none, kind, method)
}

// lay makes c.parts those of a request, or without id of a notification; the members of
// flat follow them.
func (c *codec) lay(f *form, id wire.ID, method string, params json.RawMessage) (flat json.RawMessage, err error) {
	params, flat, err = c.styled(f, method, params)
	if err != nil {
		return nil, err
	}
	p := c.plan
	c.parts = c.parts[:0]
	for _, k := range f.consts {
		c.parts = append(c.parts, part{k.path, k.value})
	}
	switch {
	case id != nil && p.names.IDs != "none":
		c.parts = append(c.parts, part{p.request.id.path, id})
	case id == nil:
		c.parts = append(c.parts, c.numbered()...)
		if p.page.Base == "jsonrpc1" {
			c.parts = append(c.parts, part{p.request.id.path, null})
		}
	}
	if p.names.Params != "prefixed" {
		c.method = scan.AppendQuoted(c.method[:0], method)
		c.parts = append(c.parts, part{f.method.path, c.method})
	}
	if flat == nil {
		c.parts = append(c.parts, part{f.params.path, params})
	}
	return flat, nil
}

// numbered returns the id that a notification gets as well, if the page numbers
// all messages.
func (c *codec) numbered() []part {
	if c.plan.names.Counter != "all" {
		return nil
	}
	return []part{{c.plan.request.id.path, c.newID()}}
}

// whole returns a message that one of the page's [write] programs makes.
func (c *codec) whole(prog load.Prog, scope *program.Scope) ([]byte, error) {
	msg, err := prog.First(nil, scope.Value)
	if err == nil && scan.Type(msg) != 'o' && scan.Type(msg) != 'a' {
		err = wire.NewFault(wire.Helper, "the dialect's program "+prog.Text()+" makes no message: an object or an array", nil)
	}
	if err != nil {
		return nil, err
	}
	return c.counted(msg), nil
}

// counted returns a message that a program has made with an id, if the page numbers all
// messages and it has none.
func (c *codec) counted(msg []byte) []byte {
	if at := c.plan.request.id.path; c.plan.names.Counter == "all" && len(at) == 1 && scan.Get(msg, at[0]) == nil {
		msg = scan.Splice(msg, at[0], c.newID())
	}
	return msg
}

// styled returns params in the form in which the dialect sends them; flat is an
// object whose members become members of the message itself.
func (c *codec) styled(f *form, method string, params json.RawMessage) (styled, flat json.RawMessage, err error) {
	if f == &c.plan.event && c.plan.names.Params == "flat" && !c.plan.flatTold {
		if len(params) == 0 {
			params = c.plan.none()
		}
		return params, nil, nil
	}
	if style := c.plan.names.Params; len(params) == 0 {
		params = c.plan.none()
		switch {
		case style == "flat":
			return nil, nil, nil
		case style == "one":
			return scan.ArrayOf(scan.OrNull(params)), nil, nil
		case style != "prefixed":
			return params, nil, nil
		}
		params = nil
	}
	switch kind := scan.Type(params); c.plan.names.Params {
	case "array":
		if kind != 'a' {
			return scan.ArrayOf(params), nil, nil
		}
	case "one":
		if kind != 'a' || scan.Sole(params) == nil {
			return scan.ArrayOf(params), nil, nil
		}
	case "flat":
		if kind != 'o' {
			return nil, nil, wire.Usagef("%s: params stand in the message itself, and must be an object: key=value", method)
		}
		return nil, params, nil
	case "prefixed":
		list := scan.AppendArray(nil)
		list.Text(method)
		switch kind {
		case 'a':
			for val := range scan.Elements(params) {
				list.Compact(val)
			}
		case 0:
		default:
			list.Compact(params)
		}
		return list.End(), nil, nil
	}
	return params, nil, nil
}

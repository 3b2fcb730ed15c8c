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

// nested writes the parts below one top-level member as its value.
func nested(parts []part, name string) []byte {
	var in []part
	for _, p := range parts {
		if len(p.path) > 1 && p.path[0] == name {
			in = append(in, part{p.path[1:], p.val})
		}
	}
	var o scan.Object
	add(&o, in)
	return o.End()
}

// call writes a request, or without id a notification.
func (c *codec) call(id wire.ID, method string, params, extra json.RawMessage) ([]byte, error) {
	p := c.plan
	prog, f, consts := p.page.Write.Notify, &p.event, p.events
	if id != nil {
		prog, f, consts = p.page.Write.Request, &p.request, p.requests
	}
	if prog != nil {
		scope := &program.Scope{Method: method, Params: params, ID: json.RawMessage(id), Extra: extra}
		return c.whole(prog, scope)
	}
	flat, err := c.lay(f, consts, id, method, params)
	if err != nil {
		return nil, err
	}
	return message(c.parts, flat, extra), nil
}

// lay makes c.parts those of a request, or without id of a notification; the members of
// flat follow them.
func (c *codec) lay(f *form, consts []constant, id wire.ID, method string, params json.RawMessage) (flat json.RawMessage, err error) {
	params, flat, err = c.styled(method, params)
	if err != nil {
		return nil, err
	}
	p := c.plan
	c.parts = c.parts[:0]
	for _, k := range consts {
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
	if at := c.plan.request.id.path; err == nil && c.plan.names.Counter == "all" && len(at) == 1 && scan.Get(msg, at[0]) == nil {
		msg = scan.Splice(msg, at[0], c.newID())
	}
	return msg, err
}

// styled returns params in the form in which the dialect sends them; flat is an
// object whose members become members of the message itself.
func (c *codec) styled(method string, params json.RawMessage) (styled, flat json.RawMessage, err error) {
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

// unstyled returns the params of a message that came in, in the form in which
// hooks see them.
func (c *codec) unstyled(params, raw []byte, consts []constant) []byte {
	switch c.plan.names.Params {
	case "one":
		if only := scan.Sole(params); only != nil && scan.Type(params) == 'a' {
			return only
		}
	case "flat":
		names := []string{}
		for _, p := range []place{c.plan.request.method, c.plan.request.id, c.plan.event.method} {
			if p.head >= 0 {
				names = append(names, p.path[0])
			}
		}
		for _, k := range consts {
			names = append(names, k.path[0])
		}
		return scan.Without(raw, names...)
	}
	return params
}

// answer writes a response to req.
func (c *codec) answer(req wire.Message, ev wire.Event, e *wire.Error) ([]byte, error) {
	result := []byte(ev.Data)
	p := c.plan
	prog := p.page.Write.Result
	if e != nil {
		prog = p.page.Write.Error
	}
	if prog != nil {
		scope := &program.Scope{Method: req.Method, Params: req.Params, ID: json.RawMessage(req.ID), Request: req.Raw, Result: result, Extra: p.Beside(req.Raw)}
		if e != nil {
			scope.Error = e.JSON()
		}
		msg, err := c.whole(prog, scope)
		for name, val := range scan.Named(scope.Extra) {
			if err == nil && scan.Type(msg) == 'o' && scan.Get(msg, name) == nil {
				msg = scan.Splice(msg, name, val)
			}
		}
		return msg, err
	}
	c.parts = c.parts[:0]
	for _, k := range p.answers {
		c.parts = append(c.parts, part{k.path, k.value})
	}
	c.parts = append(c.parts, c.numbered()...)
	if p.names.IDs != "none" {
		c.parts = append(c.parts, part{p.response.id.path, scan.OrNull(req.ID)})
	}
	if p.response.method.head >= 0 {
		c.parts = append(c.parts, part{p.response.method.path, scan.AppendQuoted(nil, req.Method)})
	}
	if p.okAt.head >= 0 {
		c.parts = append(c.parts, part{p.okAt.path, c.verdict(e == nil)})
	}
	if e == nil || p.page.Base == "jsonrpc1" {
		if result = scan.OrNull(result); e != nil {
			result = null
		}
		c.parts = append(c.parts, part{p.response.result.path, result})
	}
	if e == nil && !ev.Final {
		c.parts = append(c.parts, part{p.response.more.path, []byte("true")})
	}
	switch {
	case e != nil:
		c.refusal(e)
	case p.page.Base == "jsonrpc1":
		c.parts = append(c.parts, part{p.response.fail.path, null})
	}
	return message(c.parts, p.Beside(req.Raw)), nil
}

// verdict returns the value of the member that tells results from errors.
func (c *codec) verdict(ok bool) []byte {
	switch {
	case ok:
		return c.plan.okIs
	case string(c.plan.okIs) == "true":
		return []byte("false")
	case string(c.plan.okIs) == "false":
		return []byte("true")
	}
	return []byte(`"error"`)
}

// refusal adds an error to the message: in the members that the page names,
// else as one member.
func (c *codec) refusal(e *wire.Error) {
	f := c.plan.response
	if f.message.head < 0 && f.code.head < 0 {
		c.parts = append(c.parts, part{f.fail.path, e.JSON()})
		return
	}
	c.parts = append(c.parts, part{f.code.path, scan.OrNull(e.Code)}, part{f.message.path, scan.AppendQuoted(nil, e.Message)})
	if len(e.Data) > 0 && len(f.data.path) > len(f.fail.path) {
		c.parts = append(c.parts, part{f.data.path, e.Data})
	}
}

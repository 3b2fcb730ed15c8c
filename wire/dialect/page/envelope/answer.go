package envelope

import (
	"cmp"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// answer writes a response to req: the error e or, if e is nil, the data of ev. If write.error fails, it returns the failure and a response
// that does not need the program.
func (c *codec) answer(req wire.Message, ev wire.Event, e *wire.Error) ([]byte, error) {
	p := c.plan
	prog := p.page.Write.Result
	if e != nil {
		prog = p.page.Write.Error
	}
	if prog == nil {
		return c.named(req, ev, e), nil
	}
	scope := c.scope()
	scope.Method, scope.Params, scope.ID, scope.Request, scope.Result = req.Method, req.Params, ownID(req.ID), req.Raw, ev.Data
	scope.Extra = p.Extra(req.Raw, scope)
	if e != nil {
		scope.Error = e.JSON()
	}
	msg, err := c.whole(prog, scope)
	if err == nil || e == nil {
		return p.repeating(req, msg), err
	}
	if e = wire.AsError(program.Public(err)); max(p.response.fail.head, p.response.code.head, p.response.message.head) >= 0 {
		return c.named(req, ev, e), err
	}
	var plain scan.Object // the dialect file has no place for errors
	plain.Text("jsonrpc", "2.0")
	plain.Compact("id", scan.OrNull(ownID(req.ID)))
	plain.Compact("error", e.JSON())
	return plain.End(), err
}

// named writes a response with the names of members in the dialect file.
func (c *codec) named(req wire.Message, ev wire.Event, e *wire.Error) []byte {
	p := c.plan
	c.begin(p.response.consts)
	c.parts = append(c.parts, c.numbered()...)
	if id := ownID(req.ID); p.names.IDs != "none" && id != nil {
		c.put(p.response.id, id)
	}
	if p.response.method.head >= 0 {
		c.put(p.response.method, scan.AppendQuoted(nil, req.Method))
	}
	one := p.page.Base == "jsonrpc1" // its responses have both result and error
	if e != nil {
		if !slices.Equal(p.okAt.path, p.response.message.path) {
			opposite := map[string]string{"true": "false", "false": "true"}[string(p.okIs)]
			c.put(p.okAt, []byte(cmp.Or(opposite, `"error"`)))
		}
		if one {
			c.put(p.response.result, null)
		}
		c.refusal(e)
	} else {
		c.put(p.okAt, p.okIs)
		c.put(p.response.result, scan.OrNull(ev.Data))
		if !ev.Final {
			c.put(p.response.more, []byte("true"))
		}
		if one {
			c.put(p.response.fail, null)
		}
	}
	if p.array {
		return elements(c.parts)
	}
	return message(c.parts, p.repeats(req.Raw))
}

// repeating returns msg, a response to req or an item that a program has written, with the extra members of req. It
// does not replace members of msg.
func (c *Plan) repeating(req wire.Message, msg []byte) []byte {
	for name, val := range scan.Named(c.repeats(req.Raw)) {
		if scan.Type(msg) == 'o' && scan.Get(msg, name) == nil {
			msg = scan.Splice(msg, name, val)
		}
	}
	return msg
}

// refusal adds an error to the message, in the members that the dialect file names or as one member. If code and message share a
// member, its value is the code if that is a string, and otherwise the message.
func (c *codec) refusal(e *wire.Error) {
	f := c.plan.response
	if f.message.head < 0 && f.code.head < 0 {
		c.put(f.fail, e.JSON())
		return
	}
	one := f.message.head >= 0 && slices.Equal(f.code.path, f.message.path)
	if !one || scan.Type(e.Code) == 's' {
		c.put(f.code, scan.OrNull(e.Code))
	}
	c.put(f.message, scan.AppendQuoted(nil, e.Message))
	if len(e.Data) > 0 && len(f.data.path) > len(f.fail.path) {
		c.put(f.data, e.Data)
	}
}

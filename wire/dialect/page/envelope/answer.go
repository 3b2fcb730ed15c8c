package envelope

import (
	"encoding/json"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// answer writes a response to req.
func (c *codec) answer(req wire.Message, ev wire.Event, e *wire.Error) ([]byte, error) {
	result := []byte(ev.Data)
	p := c.plan
	prog := p.page.Write.Result
	if e != nil {
		prog = p.page.Write.Error
	}
	if prog != nil {
		scope := c.scope()
		scope.Method, scope.Params, scope.ID, scope.Request, scope.Result = req.Method, req.Params, json.RawMessage(req.ID), req.Raw, result
		scope.Extra = p.Extra(req.Raw, scope)
		if e != nil {
			scope.Error = e.JSON()
		}
		msg, err := c.whole(prog, scope)
		return p.repeating(req, msg), err
	}
	c.parts = c.parts[:0]
	for _, k := range p.response.consts {
		c.parts = append(c.parts, part{k.path, k.value})
	}
	c.parts = append(c.parts, c.numbered()...)
	if p.names.IDs != "none" {
		c.parts = append(c.parts, part{p.response.id.path, scan.OrNull(req.ID)})
	}
	if p.response.method.head >= 0 {
		c.parts = append(c.parts, part{p.response.method.path, scan.AppendQuoted(nil, req.Method)})
	}
	if p.okAt.head >= 0 && (e == nil || !slices.Equal(p.okAt.path, p.response.message.path)) {
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
	if p.array {
		return elements(nil, c.parts), nil
	}
	return message(c.parts, p.repeats(req.Raw)), nil
}

// repeating returns an answer to req, or an item, that a program has made, with the members
// beside those of req that it has not.
func (c *Plan) repeating(req wire.Message, msg []byte) []byte {
	for name, val := range scan.Named(c.repeats(req.Raw)) {
		if scan.Type(msg) == 'o' && scan.Get(msg, name) == nil {
			msg = scan.Splice(msg, name, val)
		}
	}
	return msg
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
// else as one member. One that is for code and message holds a code that names the error, else the message.
func (c *codec) refusal(e *wire.Error) {
	f := c.plan.response
	if f.message.head < 0 && f.code.head < 0 {
		c.parts = append(c.parts, part{f.fail.path, e.JSON()})
		return
	}
	one := f.message.head >= 0 && slices.Equal(f.code.path, f.message.path)
	if !one || scan.Type(e.Code) == 's' {
		c.parts = append(c.parts, part{f.code.path, scan.OrNull(e.Code)})
	}
	c.parts = append(c.parts, part{f.message.path, scan.AppendQuoted(nil, e.Message)})
	if len(e.Data) > 0 && len(f.data.path) > len(f.fail.path) {
		c.parts = append(c.parts, part{f.data.path, e.Data})
	}
}

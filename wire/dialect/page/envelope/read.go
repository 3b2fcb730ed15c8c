package envelope

import (
	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// message reads raw into m, a zero Message.
func (c *codec) message(raw []byte, m *wire.Message) error {
	p, h := c.plan, &c.heads
	if len(p.page.Read) > 0 {
		scope := c.scope()
		if r, err := p.rule(raw, scope); err != nil {
			return err
		} else if r != nil {
			return c.byRule(r, raw, m, scope)
		}
	}
	id, event := h.get(p.request.id), h.get(p.event.method)
	if i := h.any(p.forbidden); i >= 0 {
		*m = jsonrpc.Invalid(raw, jsonrpc.IDOrNil(id), "messages cannot have the member "+p.forbidden[i].name())
		return nil
	}
	if event != nil && c.isEvent(id) {
		return c.notification(raw, event, h.get(p.event.params), m)
	}
	method, answers := c.requestMethod(), c.answers(h)
	switch {
	case method != nil && c.isRequest(h) && (p.apart || !answers) && c.canAsk(h):
		return c.requested(raw, method, m)
	case answers && (p.version2 || h.is(p.response.consts)):
		c.answered(raw, m)
		return nil
	}
	*m = jsonrpc.Invalid(raw, jsonrpc.IDOrNil(id), "neither a request nor a response nor a notification")
	return nil
}

// isEvent reports whether a message that has the member for an event's method is an event.
func (c *codec) isEvent(id []byte) bool {
	p := c.plan
	switch {
	case c.heads.any(p.event.none) >= 0:
		return false
	case p.markedEvents:
		return c.heads.is(p.event.consts)
	}
	sameName := p.event.method.head == p.request.method.head && len(p.event.method.path) == len(p.request.method.path)
	return !sameName || !c.hasID(id)
}

// isRequest reports whether a message contains the constants of requests.
func (c *codec) isRequest(h *heads) bool {
	p := c.plan
	return p.version2 || h.is(p.request.consts) || p.names.Stream != nil && h.is(p.opening)
}

// requestMethod returns the method of a request as JSON, or nil if there is none.
func (c *codec) requestMethod() []byte {
	method := c.heads.get(c.plan.request.method)
	if method == nil && c.plan.names.Params == "prefixed" {
		return Below(c.heads.get(c.plan.request.params), "0")
	}
	return method
}

func (c *codec) hasID(id []byte) bool {
	return id != nil && (c.plan.version2 || string(id) != "null") || c.plan.names.IDs == "none"
}

// answers reports whether a message is a response according to its members.
func (c *codec) answers(h *heads) bool {
	p := c.plan
	if h.any(p.response.none) >= 0 {
		return false
	}
	if p.okAt.head >= 0 {
		return h.get(p.okAt) != nil && (h.get(p.response.id) != nil || p.names.IDs == "none")
	}
	method := h.get(p.request.method)
	result := h.get(p.response.result) != nil && (method == nil || p.response.result.head != p.request.params.head)
	return result || h.get(p.response.fail) != nil || p.names.IDs == "none" && len(c.ours.open) > 0 && method == nil
}

func (c *codec) notification(raw, method, params []byte, m *wire.Message) error {
	name, ok := c.methods.Of(method)
	if !ok {
		*m = jsonrpc.Invalid(raw, nil, "the method is not a string")
		return nil
	}
	params = notNull(c.unstyled(name, params, raw, c.plan.event.consts, true))
	*m = wire.Message{Kind: wire.Notification, Method: name, Params: params, Body: params, Raw: raw}
	return nil
}

func (c *codec) requested(raw, method []byte, m *wire.Message) error {
	id, unnamed := c.heads.get(c.plan.request.id), false
	if c.plan.names.IDs == "none" {
		id = c.theirs.next()
	} else if unnamed = !c.hasID(id) && c.asksUnnumbered(); unnamed { // the responses to this request and to later ones are written in order
		id = c.unnumbered(id)
	}
	name, ok := c.methods.Of(method)
	if !ok {
		*m = jsonrpc.Invalid(raw, jsonrpc.IDOrNil(id), "the method is not a string")
		return nil
	}
	params := notNull(c.unstyled(name, c.heads.get(c.plan.request.params), raw, c.plan.opening, false))
	*m = wire.Message{Kind: wire.Request, ID: id, Method: name, Params: params, Body: params, Raw: raw}
	if !c.hasID(id) {
		m.Kind, m.ID = wire.Notification, nil
	} else if c.plan.names.IDs == "none" || len(c.theirs.open) > 0 || unnamed {
		c.theirs.open = append(c.theirs.open, id)
	}
	return nil
}

// answered reads a response.
func (c *codec) answered(raw []byte, m *wire.Message) {
	p, h := c.plan, &c.heads
	id := h.get(p.response.id)
	more := string(h.get(p.response.more)) == "true"
	if p.names.IDs == "none" { // the response is to the oldest request
		id = nil
		if len(c.ours.open) > 0 {
			id = c.ours.open[0]
			if !more {
				c.ours.open = c.ours.open[1:]
			}
		}
	}
	*m = wire.Message{Kind: wire.Response, ID: id, Raw: raw, Body: h.get(p.response.result), Final: p.response.more.head >= 0 || p.items || p.ends}
	if more {
		m.Kind, m.Final = wire.Item, false
	}
	fail := h.get(p.response.fail)
	failed := notNull(fail) != nil
	if p.okAt.head >= 0 {
		failed = !scan.Equal(h.get(p.okAt), p.okIs)
	}
	switch {
	case failed:
		m.Kind, m.Err, m.Body = wire.Response, c.failure(fail, raw), nil
	case m.Body == nil:
		m.Body = null
	}
}

// failure reads an error from the members that the dialect file names.
func (c *codec) failure(fail, raw []byte) *wire.Error {
	p, h := c.plan.response, &c.heads
	e := &wire.Error{Raw: fail}
	if fail != nil {
		e = jsonrpc.ReadError(fail)
	}
	if code := h.get(p.code); code != nil {
		e.Code = code
	}
	if text, ok := scan.Text(h.get(p.message)); ok {
		e.Message = text
	}
	if data := notNull(h.get(p.data)); data != nil {
		e.Data = data
	}
	if e.Message == "" && e.Code == nil {
		e.Message = string(scan.Compact(nil, raw))
	}
	return e
}

func notNull(val []byte) []byte {
	if string(val) == "null" {
		return nil
	}
	return val
}

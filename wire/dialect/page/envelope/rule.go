package envelope

import (
	"encoding/json"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// ruleKinds are the kinds of messages that [[read]] rules read.
var ruleKinds = map[string]wire.Kind{
	"request": wire.Request, "notification": wire.Notification, "cancel": wire.Cancel, "response": wire.Response, "item": wire.Item,
}

// byRule reads a message with a [[read]] rule.
func (c *codec) byRule(r *load.Read, raw []byte, m *wire.Message, scope *program.Scope) (err error) {
	var id, method, params, result, fail json.RawMessage
	for _, part := range []struct {
		prog load.Prog
		to   *json.RawMessage
	}{{r.ID, &id}, {r.Method, &method}, {r.Params, &params}, {r.Result, &result}, {r.Error, &fail}} {
		if *part.to, err = part.prog.First(raw, scope.Value); err != nil {
			return err
		}
	}
	if (r.Kind == "request" || r.Kind == "notification") && scan.Type(method) != 's' {
		*m = jsonrpc.Invalid(raw, jsonrpc.IDOrNil(id), "the method is not a string")
		return nil
	}
	params = notNull(params)
	*m = wire.Message{Kind: ruleKinds[r.Kind], Method: scan.String(method), ID: wire.ID(id), Params: params, Body: params, Raw: raw}
	switch m.Kind {
	case wire.Notification:
		m.ID = nil
	case wire.Cancel:
		m.ID, m.Target = nil, wire.ID(id)
	case wire.Response:
		m.Body, m.Final = scan.OrNull(result), c.plan.items || c.plan.ends
	case wire.Item:
		m.Body = scan.Or(result, params)
	}
	if (m.Kind == wire.Response || m.Kind == wire.Item) && len(notNull(fail)) > 0 {
		m.Err, m.Body = jsonrpc.ReadError(fail), nil
	}
	if r.Final != nil {
		m.Final, err = r.Final.Holds(raw, scope.Value)
	}
	return err
}

// reads reports whether a [[read]] rule applies to a received message. On a tape, the receiver is unknown, so the rules of both
// sides apply.
func reads(r *load.Read, raw []byte, scope *program.Scope) (bool, error) {
	if r.From != "" {
		if conn := scope.Whole(); conn != nil && conn.Serving != (r.From == "client") {
			return false, nil
		}
	}
	return r.When.Holds(raw, scope.Value)
}

// scope returns the scope of a program that processes a message: the variables of the connection.
func (c *codec) scope() *program.Scope { return &program.Scope{Now: c.o.Conn} }

// rule returns the first [[read]] rule that applies to a message, or nil. If the condition of a rule fails, it returns the rule
// and the error.
func (c *Plan) rule(raw []byte, scope *program.Scope) (*load.Read, error) {
	for i := range c.page.Read {
		r := &c.page.Read[i]
		if holds, err := reads(r, raw, scope); holds || err != nil {
			return r, err
		}
	}
	return nil, nil
}

// HasRule reports whether a [[read]] rule applies to a message. A nil Plan returns false.
func (c *Plan) HasRule(raw []byte, scope *program.Scope) bool {
	if c == nil {
		return false
	}
	r, _ := c.rule(raw, scope)
	return r != nil
}

// HasEnds reports whether a [[read]] rule determines which response is the last one. A nil Plan returns false.
func (c *Plan) HasEnds() bool { return c != nil && c.ends }

// Ends returns whether a response is the last one according to the [[read]] rules. decided is false if the rules do not determine
// this. A nil Plan returns false.
func (c *Plan) Ends(raw []byte, scope *program.Scope) (decided, ends bool) {
	if !c.HasEnds() {
		return false, false
	}
	r, _ := c.rule(raw, scope)
	if r == nil || r.Final == nil {
		return false, false
	}
	ends, err := r.Final.Holds(raw, scope.Value)
	return true, ends || err != nil
}

// Extra returns the extra members of a received message, or nil: the members in names.extra, and those that the matching [[read]]
// rule finds. A nil Plan returns nil.
func (c *Plan) Extra(raw []byte, scope *program.Scope) json.RawMessage {
	beside := c.Beside(raw)
	if c == nil || !c.extras {
		return beside
	}
	r, _ := c.rule(raw, scope)
	if r == nil || r.Extra == nil {
		return beside
	}
	more, err := r.Extra.First(raw, scope.Value)
	if err != nil || scan.Type(more) != 'o' {
		return beside
	}
	o := scan.AppendObject(nil)
	o.Inside(beside)
	for name, val := range scan.Named(more) {
		if string(val) != "null" && scan.Get(beside, name) == nil {
			o.Add(name, val)
		}
	}
	return o.EndOrNil()
}

// any returns the index of the first place that is not empty in the message, or -1.
func (h *heads) any(places []place) int {
	return slices.IndexFunc(places, func(p place) bool { return h.get(p) != nil })
}

// canAsk reports whether a message with a method has no member that requests forbid or, for a message without an id, that
// notifications forbid.
func (c *codec) canAsk(h *heads) bool {
	id := h.get(c.plan.request.id)
	return h.any(c.plan.request.none) < 0 && (len(c.plan.event.none) == 0 || c.hasID(id) || h.any(c.plan.event.none) < 0)
}

// name returns the path as it is written in dialect files.
func (p place) name() string { return strings.Join(p.path, ".") }

// allowed returns an error if a local message has a member that the dialect file forbids, in all messages or in this kind of
// message.
func (c *codec) allowed(raw []byte, none []place, kind, method string) error {
	for _, p := range slices.Concat(c.plan.forbidden, none) {
		if along(raw, p.path) != nil {
			return wire.Usagef("%s: %s in the %s dialect cannot have the member %s", method, kind, c.plan.page.Name, p.name())
		}
	}
	return nil
}

// repeats returns those extra members of the request raw that its response repeats, or nil.
func (c *Plan) repeats(raw []byte) json.RawMessage {
	beside := c.Beside(raw)
	for _, p := range c.response.none {
		if beside != nil && len(p.path) == 1 {
			beside = scan.Without(beside, p.path[0])
		}
	}
	return beside
}

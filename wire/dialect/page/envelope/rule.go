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

// ruleKinds are the kinds of messages that rules read.
var ruleKinds = map[string]wire.Kind{
	"request": wire.Request, "notification": wire.Notification, "cancel": wire.Cancel, "response": wire.Response, "item": wire.Item,
}

// byRules reads a message by the first rule of the dialect file that applies. done is false without such a rule.
func (c *codec) byRules(raw []byte, m *wire.Message) (done bool, err error) {
	for i := range c.plan.page.Read {
		if done, err := c.byRule(&c.plan.page.Read[i], raw, m); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// byRule reads a message by one [[read]] rule. done is false if the rule's condition is false.
func (c *codec) byRule(r *load.Read, raw []byte, m *wire.Message) (done bool, err error) {
	scope := c.scope()
	if holds, err := reads(r, raw, scope); !holds || err != nil {
		return false, err
	}
	var id, method, params, result, fail json.RawMessage
	for _, part := range []struct {
		prog load.Prog
		to   *json.RawMessage
	}{{r.ID, &id}, {r.Method, &method}, {r.Params, &params}, {r.Result, &result}, {r.Error, &fail}} {
		if *part.to, err = part.prog.First(raw, scope.Value); err != nil {
			return true, err
		}
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
		if result != nil {
			m.Body = result
		}
	}
	if (m.Kind == wire.Response || m.Kind == wire.Item) && len(notNull(fail)) > 0 {
		m.Err, m.Body = jsonrpc.ReadError(fail), nil
	}
	if r.Final != nil {
		m.Final, err = r.Final.Holds(raw, scope.Value)
	}
	return true, err
}

// reads reports whether a rule applies to a received message. On a tape, where the receiver is unknown, both sides' rules apply.
func reads(r *load.Read, raw []byte, scope *program.Scope) (bool, error) {
	if r.From != "" {
		if conn := scope.Whole(); conn != nil && conn.Serving != (r.From == "client") {
			return false, nil
		}
	}
	return r.When.Holds(raw, scope.Value)
}

// scope returns the connection's variables for a program of a message.
func (c *codec) scope() *program.Scope { return &program.Scope{Now: c.o.Conn} }

// rule returns the rule that reads a message, or nil.
func (c *Plan) rule(raw []byte, scope *program.Scope) *load.Read {
	for i := range c.page.Read {
		r := &c.page.Read[i]
		if holds, err := reads(r, raw, scope); holds || err != nil {
			return r
		}
	}
	return nil
}

// HasRule reports whether a [[read]] rule reads a message. It is false for a nil Plan.
func (c *Plan) HasRule(raw []byte, scope *program.Scope) bool {
	return c != nil && c.rule(raw, scope) != nil
}

// HasEnds reports whether a rule of the dialect file determines whether a response is the last. It is false for a nil Plan.
func (c *Plan) HasEnds() bool { return c != nil && c.ends }

// Ends reports whether the dialect file's rules determine whether a response is the last, and if so whether this response is. It is false
// for a nil Plan.
func (c *Plan) Ends(raw []byte, scope *program.Scope) (said, ends bool) {
	if !c.HasEnds() {
		return false, false
	}
	r := c.rule(raw, scope)
	if r == nil || r.Final == nil {
		return false, false
	}
	ends, err := r.Final.Holds(raw, scope.Value)
	return true, ends || err != nil
}

// Extra returns a received message's extra members, or nil: those in names.extra, and those that the matching rule finds. It returns
// nil for a nil Plan.
func (c *Plan) Extra(raw []byte, scope *program.Scope) json.RawMessage {
	beside := c.Beside(raw)
	if c == nil || !c.extras {
		return beside
	}
	r := c.rule(raw, scope)
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

// any returns the index of the first place with a value in the message, or -1.
func (h *heads) any(places []place) int {
	return slices.IndexFunc(places, func(p place) bool { return h.get(p) != nil })
}

// canAsk reports whether a message with a method has no member that is forbidden in requests, or without an id in notifications.
func (c *codec) canAsk(h *heads) bool {
	id := h.get(c.plan.request.id)
	return h.any(c.plan.request.none) < 0 && (len(c.plan.event.none) == 0 || c.hasID(id) || h.any(c.plan.event.none) < 0)
}

// name returns the place's path as in dialect files.
func (p place) name() string { return strings.Join(p.path, ".") }

// in returns the value at the place in a whole message, or nil.
func (p place) in(raw []byte) []byte {
	for _, step := range p.path {
		if raw = Below(raw, step); raw == nil {
			return nil
		}
	}
	return raw
}

// allowed returns the error of a local message with a member that the dialect file forbids for all messages or for its kind.
func (c *codec) allowed(raw []byte, none []place, kind, method string) error {
	for _, list := range [][]place{c.plan.forbidden, none} {
		for _, p := range list {
			if p.in(raw) != nil {
				return wire.Usagef("%s: %s of the %s dialect has no member %s", method, kind, c.plan.page.Name, p.name())
			}
		}
	}
	return nil
}

// repeats returns the request's extra members that its response also has.
func (c *Plan) repeats(raw []byte) json.RawMessage {
	beside := c.Beside(raw)
	for _, p := range c.response.none {
		if beside != nil && len(p.path) == 1 {
			beside = scan.Without(beside, p.path[0])
		}
	}
	return beside
}

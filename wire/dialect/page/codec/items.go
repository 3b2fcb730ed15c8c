package codec

import (
	"bytes"
	"encoding/json"
	"fmt"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// items appends an item for each stream that the notification belongs to. It reports whether there is such a stream.
func (c *Codec) items(m *wire.Message) (found bool, err error) {
	for _, s := range c.streams {
		var item wire.Message
		if ok, err := c.item(s, m, &item); err != nil {
			return false, err
		} else if !ok {
			continue
		}
		c.out, found = append(c.out, item), true
		if item.Final {
			c.forget(s)
		}
	}
	return found, nil
}

// item sets item to m as an item of a stream. ok is false if m does not belong to the stream.
func (c *Codec) item(s *call, m, item *wire.Message) (ok bool, err error) {
	rule := &s.rule.Item
	if rule.Method == "" || !dialect.Matches(rule.Method, m.Method) || !c.shares(s, m) {
		return false, nil
	}
	var vals func(name string) json.RawMessage
	if rule.When != nil || rule.Event != nil || s.rule.Until != nil {
		vals = c.about(s, m).Value
	}
	if ok, err := rule.When.Holds(m.Params, vals); err != nil || !ok {
		return false, err
	}
	*item = *m
	item.Kind, item.Stream = wire.Item, s.stream
	if err := c.show(s, item, vals); err != nil {
		return false, err
	}
	if c.o.Trace != nil {
		c.trace("%s is an item of %s: %s", m.Method, s.method, item.Body)
	}
	return true, nil
}

// shares reports whether a notification has the same extra members as a call, and can therefore belong to it.
func (c *Codec) shares(s *call, m *wire.Message) bool {
	for name, val := range scan.Named(s.extra) {
		if !scan.Equal(scan.Get(m.Raw, name), val) {
			return false
		}
	}
	return true
}

// about returns the variables for a call and a message m that may belong to it.
func (c *Codec) about(s *call, m *wire.Message) *program.Scope {
	sc := c.scope(s)
	sc.Name, sc.Extra = m.Method, c.d.plan.Extra(m.Raw, sc)
	return sc
}

// show sets an item's body to the value that the dialect file selects for the user, and determines whether the item is
// the last one.
func (c *Codec) show(s *call, item *wire.Message, vals func(name string) json.RawMessage) (err error) {
	if prog := s.rule.Item.Event; prog != nil {
		if item.Body, err = prog.First(item.Body, vals); err != nil {
			return err
		}
	}
	item.Body = scan.OrNull(item.Body)
	if s.rule.Until != nil && !item.Final {
		item.Final, err = s.rule.Until.Holds(item.Params, vals)
	}
	return err
}

// itemOf appends an item that contains the id of its call. If the call has opened a stream, the dialect file selects the
// value for the user.
func (c *Codec) itemOf(m *wire.Message) error {
	s := c.calls[string(m.ID.Key())]
	if s == nil {
		c.out = append(c.out, *m)
		return nil
	}
	s.begun = true
	if s.rule == nil && s.result == nil {
		s.result = bytes.Clone(m.Body)
	}
	if s.rule == nil && s.unwrap != (unwrapping{}) {
		return c.partOf(m, s)
	}
	if s.rule != nil && m.Err == nil && m.Body != nil {
		if err := c.show(s, m, c.about(s, m).Value); err != nil {
			return err
		}
		if s.rule.Item.Event != nil {
			c.trace("a message is an item of %s: %s", s.method, json.RawMessage(m.Body))
		}
	}
	if m.Final {
		c.forget(s)
	}
	c.out = append(c.out, *m)
	return nil
}

// partOf appends one of several responses to a call whose result is unwrapped. The last response is the result. The others become
// events if [during] has rules for the call's method.
func (c *Codec) partOf(m *wire.Message, s *call) error {
	if m.Final {
		c.forget(s)
		if err := c.unwrapped(m, s); err != nil {
			return err
		}
		if string(m.Body) == "null" && m.Err == nil { // the call has no result of its own
			m.Body = nil
		}
		c.out = append(c.out, *m)
		return nil
	}
	before := len(c.out)
	if err := c.during(&wire.Message{Kind: wire.Notification, Method: s.method, Params: m.Body, Raw: m.Raw}, s); err != nil {
		return err
	}
	if len(c.out) == before && !c.d.Notifies(s.method) {
		c.out = append(c.out, *m)
	}
	return nil
}

// trace writes to the trace how the dialect file converts a message.
func (c *Codec) trace(format string, args ...any) {
	if c.o.Trace == nil {
		return
	}
	for i := range args {
		if b, ok := args[i].(json.RawMessage); ok {
			args[i] = shown(b)
		}
	}
	c.o.Trace(c.d.Page.Name + ": " + fmt.Sprintf(format, args...))
}

// traceRead writes to the trace how a [[read]] rule reads a message, if one does.
func (c *Codec) traceRead(m *wire.Message) {
	if !c.d.plan.HasRule(m.Raw, c.Scope()) {
		return
	}
	body := m.Body
	if m.Err != nil {
		body = m.Err.JSON()
	}
	what := m.Kind.String()
	if m.Method != "" {
		what += " " + m.Method
	}
	if id := m.ID; len(id)+len(m.Target) > 0 {
		what += " " + string(append(id.Clone(), m.Target...))
	}
	c.trace("a message is read as %s: %s", what, body)
}

// shown returns the start of a value.
func shown(val []byte) string { return wire.Excerpt(val, 500) }

// subscription finds the rule for the stream of op, a Subscribe. If the rule replaces the request, subscription also
// changes op.
func (c *Codec) subscription(op *dialect.Op, s *call) error {
	_, s.rule = c.d.Subscription(op.Method)
	if s.rule == nil || s.rule.Instead == nil {
		return nil
	}
	in := s.rule.Instead
	if ok, err := in.When.Holds(c.kept(), c.Scope().Value); err != nil || !ok {
		return err
	}
	params, err := in.Params.First(op.Params, c.scope(s).Value)
	if err != nil {
		return err
	}
	op.Method, op.Params = in.Method, params
	_, s.rule = c.d.Subscription(in.Method)
	s.rule.Item = in.Item // does not change the dialect file, because Subscription returns a copy
	return nil
}

// opens reports whether a notification confirms a stream. If so, it becomes the response to the stream's request.
func (c *Codec) opens(m *wire.Message) (bool, error) {
	for _, s := range c.streams {
		if s.rule.Opened != m.Method || s.result != nil || !c.shares(s, m) {
			continue
		}
		if ok, err := s.rule.Item.When.Holds(m.Params, c.about(s, m).Value); err != nil {
			return false, err
		} else if ok {
			s.result = bytes.Clone(m.Params)
			m.Kind, m.ID, m.Body = wire.Response, s.id, null
			return true, nil
		}
	}
	return false, nil
}

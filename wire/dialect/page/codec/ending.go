package codec

import (
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/envelope"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// cancel returns the message that cancels a call.
func (c *Codec) cancel(op dialect.Op) (wire.Message, error) {
	rule := c.d.Page.Cancel
	s := c.calls[string(op.OfID.Key())]
	if op.Of == nil || len(op.OfID) == 0 || s == nil {
		return wire.Message{}, wire.ErrUnsupported
	}
	c.forget(s)
	if slices.Contains(rule.Except, op.Of.Method) {
		return wire.Message{}, wire.ErrUnsupported
	}
	params, ok, err := program.If(rule.When, rule.Params, s.params, c.scope(s).Value)
	if err == nil && (!ok || params == nil && rule.Params != nil) { // this call cannot be cancelled
		err = wire.ErrUnsupported
	}
	if err != nil {
		return wire.Message{}, err
	}
	if err := c.settlePending(s); err != nil {
		return wire.Message{}, err
	}
	if rule.Call != "" {
		return c.write(dialect.Op{Kind: dialect.Call, Method: rule.Call, Params: params})
	}
	m, err := c.Codec.Encode(dialect.Op{Kind: dialect.Notify, Method: rule.Notify, Params: params})
	m.Kind, m.Target = wire.Cancel, op.OfID
	return m, err
}

// unsubscribe returns the message that ends a stream: a call of the user's method, or the message that the dialect file
// defines.
func (c *Codec) unsubscribe(op dialect.Op, s *call) (wire.Message, error) {
	c.forget(s)
	end := s.rule.End
	switch {
	case op.Unsubscribe != "":
		return c.Codec.Encode(op)
	case end == nil:
		return wire.Message{}, wire.ErrUnsupported
	}
	params, err := end.Params.First(s.result, c.scope(s).Value)
	if err != nil {
		return wire.Message{}, err
	}
	if end.Call != "" {
		return c.write(dialect.Op{Kind: dialect.Call, Method: end.Call, Params: params})
	}
	return c.Codec.Encode(dialect.Op{Kind: dialect.Notify, Method: end.Notify, Params: params})
}

func (c *Codec) forget(s *call) {
	delete(c.calls, string(s.id.Key()))
	if s.companion != nil {
		s.companion.Over()
		s.companion = nil
	}
	if i := slices.Index(c.streams, s); i >= 0 { // the slice is copied, because items may be reading it
		c.streams = slices.Concat(c.streams[:i], c.streams[i+1:])
	}
}

// claim returns the call that a notification belongs to, or nil, and sets m.Claimed if it is the notification that a server of this
// dialect sends for an event (say), and the call is running or its token is in m.
func (c *Codec) claim(rule *load.Item, say *load.Say, m *wire.Message) (*call, error) {
	s, err := c.belongs(rule, m)
	if err != nil || say == nil || say.Method != m.Method {
		return s, err
	}
	m.Claimed = s != nil
	if at, fail := c.d.token(); s == nil && rule.When != nil && fail == nil {
		n, fail := strconv.ParseInt(string(envelope.Below(m.Params, at)), 10, 64)
		m.Claimed = fail == nil && 0 < n && n <= c.tokens
	}
	return s, nil
}

// cancelled turns a notification that cancels a request into a Cancel.
func (c *Codec) cancelled(m *wire.Message) {
	at, _ := c.d.target()
	if at == "" {
		return
	}
	target := envelope.Below(m.Params, at)
	if t := scan.Type(target); t != 's' && t != 'n' {
		return
	}
	m.Kind, m.Target = wire.Cancel, target
	if c.d.Page.Cancel.Answer == nil {
		return
	}
	const most = 1024 // an id stays in the map if its request was answered before the cancel
	if c.dropped == nil || len(c.dropped) >= most {
		c.dropped = map[string]bool{}
	}
	c.dropped[string(scan.Canonical(target))] = true
}

// mark is a value that placeOf finds.
const mark = `"\u0000"`

// placeOf returns the place of mark in the output of a program: a member name, an array index, or "" if the output does not contain it.
func placeOf(prog load.Prog, sc program.Scope) (string, error) {
	out, err := prog.First(sc.Event, sc.Value)
	if err != nil {
		return "", err
	}
	for at, val := range scan.Parts(out) {
		if scan.Equal(val, []byte(mark)) {
			return at, nil
		}
	}
	return "", nil
}

package codec

import (
	"rpcx/wire"
	"rpcx/wire/dialect"
)

// cancel returns the message with which the page cancels a call.
func (c *Codec) cancel(op dialect.Op) (wire.Message, error) {
	rule := c.d.Page.Cancel
	s := c.calls[string(op.OfID)]
	if op.Of == nil || len(op.OfID) == 0 || s == nil {
		return wire.Message{}, wire.ErrUnsupported
	}
	c.forget(s)
	for _, method := range rule.Except {
		if method == op.Of.Method {
			return wire.Message{}, wire.ErrUnsupported
		}
	}
	params, err := rule.Params.First(s.params, c.scope(s).Value)
	if err == nil && params == nil && rule.Params != nil { // by the page this call cannot be cancelled
		err = wire.ErrUnsupported
	}
	if err != nil {
		return wire.Message{}, err
	}
	if rule.Call != "" {
		return c.Codec.Encode(dialect.Op{Kind: dialect.Call, Method: rule.Call, Params: params})
	}
	m, err := c.Codec.Encode(dialect.Op{Kind: dialect.Notify, Method: rule.Notify, Params: params})
	m.Kind, m.Target = wire.Cancel, op.OfID
	return m, err
}

// unsubscribe returns the message that ends a stream: by the method that the
// user gave, else as the page says.
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
		return c.Codec.Encode(dialect.Op{Kind: dialect.Call, Method: end.Call, Params: params})
	}
	return c.Codec.Encode(dialect.Op{Kind: dialect.Notify, Method: end.Notify, Params: params})
}

// forget removes a call that is over.
func (c *Codec) forget(s *call) {
	delete(c.calls, string(s.id))
	if s.rule == nil {
		return
	}
	for i, o := range c.streams {
		if o == s {
			c.streams = append(c.streams[:i:i], c.streams[i+1:]...)
			return
		}
	}
}

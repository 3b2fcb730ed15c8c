package codec

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// items appends an item for each stream that the notification belongs to.
func (c *Codec) items(m *wire.Message) (found bool, err error) {
	for _, s := range c.streams {
		rule := &s.rule.Item
		if rule.Method == "" || !dialect.Matches(rule.Method, m.Method) || !c.shares(s, m) {
			continue
		}
		var vals func(name string) json.RawMessage
		if rule.When != nil || rule.Event != nil || s.rule.Until != nil {
			sc := c.scope(s)
			sc.Name, sc.Extra = m.Method, c.d.Extra(m.Raw, sc)
			vals = sc.Value
		}
		if ok, err := rule.When.Holds(m.Params, vals); err != nil || !ok {
			if err != nil {
				return false, err
			}
			continue
		}
		item := *m
		item.Kind, item.Stream = wire.Item, s.stream
		if rule.Event != nil {
			if item.Body, err = rule.Event.First(m.Params, vals); err != nil {
				return false, err
			}
		}
		if item.Body == nil {
			item.Body = null
		}
		if s.rule.Until != nil {
			if item.Final, err = s.rule.Until.Holds(m.Params, vals); err != nil {
				return false, err
			}
		}
		if c.o.Trace != nil {
			c.trace("%s is an item of %s: %s", m.Method, s.method, item.Body)
		}
		c.out, found = append(c.out, item), true
		if item.Final {
			defer c.forget(s)
		}
	}
	return found, nil
}

// itemOf appends an item that names the call it belongs to by its id. Where that has opened
// a stream, the page says what is shown of it.
func (c *Codec) itemOf(m *wire.Message) (err error) {
	s := c.calls[string(m.ID)]
	if s == nil {
		c.out = append(c.out, *m)
		return nil
	}
	s.begun = true
	if s.rule != nil && m.Err == nil && m.Body != nil {
		rule := &s.rule.Item
		sc := c.scope(s)
		sc.Name, sc.Extra = m.Method, c.d.Extra(m.Raw, sc)
		if rule.Event != nil {
			if m.Body, err = rule.Event.First(m.Body, sc.Value); err != nil {
				return err
			}
			if m.Body == nil {
				m.Body = null
			}
			c.trace("a message is an item of %s: %s", s.method, json.RawMessage(m.Body))
		}
		if s.rule.Until != nil && !m.Final {
			if m.Final, err = s.rule.Until.Holds(m.Params, sc.Value); err != nil {
				return err
			}
		}
	}
	if m.Final {
		c.forget(s)
	}
	c.out = append(c.out, *m)
	return nil
}

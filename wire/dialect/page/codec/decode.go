package codec

import (
	"bytes"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

var null = []byte("null")

// Decode returns the messages in raw and assigns each to its local call or stream. If a program fails, the error is about raw.
func (c *Codec) Decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	msgs, batch, err = c.decode(raw)
	return msgs, batch, program.OfPeer(raw, err)
}

func (c *Codec) decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	msgs, batch, err = c.Codec.Decode(raw)
	if c.o.Trace != nil {
		for i := range msgs {
			c.traceRead(&msgs[i])
		}
	}
	if err != nil || c.beats == nil && !c.d.tracks && !c.d.awaits && !c.d.guards && len(c.d.served) == 0 && c.own.step.Load() == nil {
		return msgs, batch, err
	}
	clear(c.out)
	c.out = c.out[:0]
	refused := batch && c.refusesBatches()
	for i := range msgs {
		if refused && msgs[i].Kind == wire.Request { // this error is the response
			msgs[i].Err = wire.NewError(wire.CodeInvalidRequest, "batches are not supported")
		}
		if err := c.message(&msgs[i]); err != nil {
			return nil, false, err
		}
	}
	return c.out, batch, nil
}

// refusesBatches reports whether the server rejects batches.
func (c *Codec) refusesBatches() bool {
	rule := c.d.Page.Serve.Batches
	if rule == nil || !c.o.Serving {
		return false
	}
	may, err := rule.Holds(c.kept(), c.Scope().Value)
	return err != nil || !may
}

// message appends m to c.out, with the items and events that the dialect file's rules find in m.
func (c *Codec) message(m *wire.Message) error {
	if consumed, err := c.consumes(m); consumed || err != nil {
		return err
	}
	switch m.Kind {
	case wire.Response:
		return c.response(m)
	case wire.Notification:
		return c.notification(m)
	case wire.Item: // with an id, it is one of several responses
		if len(m.ID) > 0 {
			return c.itemOf(m)
		}
		// the dialect file's rules take precedence over a stream that the message itself names
		was := *m
		m.Kind, m.Stream, m.Final, m.Err, m.Body = wire.Notification, nil, false, nil, m.Params
		if found, err := c.items(m); found || err != nil {
			return err
		}
		*m = was
	case wire.Request:
		delete(c.dropped, string(m.ID.Key()))
		c.early(m)
		if cancel := c.d.Page.Cancel; cancel != nil && cancel.Call != "" && m.Method == cancel.Call && m.Err == nil {
			c.out = append(c.out, *m) // the message is itself a request
			m.ID = nil
			if c.cancelled(m); m.Kind != wire.Cancel {
				return nil
			}
		}
	}
	c.out = append(c.out, *m)
	return nil
}

// consumes reports whether a message is only a heartbeat. Any other message is stored for the handshake.
func (c *Codec) consumes(m *wire.Message) (bool, error) {
	if beat, err := c.beat(m); beat || err != nil || !c.d.awaits {
		return beat, err
	}
	return false, c.keepForHandshake(m)
}

// response handles a response. It unwraps the response or starts a stream.
func (c *Codec) response(m *wire.Message) error {
	if err := c.ownAnswer(m); err != nil {
		return err
	}
	s := c.calls[string(m.ID.Key())]
	if s == nil {
		c.out = append(c.out, *m)
		return nil
	}
	decided, ends := false, false
	if c.d.plan.HasEnds() {
		decided, ends = c.d.plan.Ends(m.Raw, c.scope(s))
	}
	if err := c.interim(m, s); err != nil {
		return err
	}
	switch {
	case m.Interim:
		c.forget(s)
	case c.begins(m, s), c.onlyEnds(m, s):
	case decided && !ends && s.continues(m):
		m.Kind, m.Final = wire.Item, false
		return c.itemOf(m)
	case s.rule != nil && m.Err == nil:
		return c.streamResponse(m, s, ends || s.begun && !decided)
	default:
		c.forget(s)
		if err := c.unwrapped(m, s); err != nil {
			return err
		}
	}
	c.out = append(c.out, *m)
	return nil
}

// streamResponse handles the response to the request for the stream of s. The response may be an error. over means that
// the response ends the stream.
func (c *Codec) streamResponse(m *wire.Message, s *call, over bool) error {
	if err := c.unwrapped(m, s); err != nil {
		return err
	}
	confirmed := s.rule.Opened != "" // the stream was already opened, or ends now
	if over || confirmed || m.Err != nil {
		c.forget(s)
		if confirmed && m.Err == nil {
			m.Final, m.Body = true, nil
		}
		c.out = append(c.out, *m)
		return nil
	}
	s.result = bytes.Clone(m.Body)
	if !s.rule.First {
		c.out = append(c.out, *m)
		return nil
	}
	opening, first := *m, *m
	opening.Body = null
	first.Kind, first.ID, first.Stream = wire.Item, nil, s.stream
	c.out = append(c.out, opening, first)
	return nil
}

// onlyEnds reports whether a response has no value and only ends the items before it. If so, it becomes the final item.
func (c *Codec) onlyEnds(m *wire.Message, s *call) bool {
	if !s.begun || m.Err != nil || string(m.Body) != "null" || !c.d.Page.ReadsItems() {
		return false
	}
	c.forget(s)
	m.Kind, m.Body, m.Final = wire.Item, nil, true
	return true
}

// continues reports whether m, a response that does not end the call, is an item of the call.
func (s *call) continues(m *wire.Message) bool {
	return m.Err == nil && (s.rule == nil || s.rule.First)
}

// notification handles a notification, which may be an item of a stream, an event of a running call, or a cancel.
func (c *Codec) notification(m *wire.Message) error {
	if err := c.keepNotified(m); err != nil {
		return err
	}
	c.expire(m)
	if c.early(m); m.Err != nil { // the message has no effect
		c.out = append(c.out, *m)
		return nil
	}
	if c.o.Serving { // in the order of the messages, so that later requests see the values; the notification's handler reports failures
		if values, err := c.KeptOf(m); err == nil && values != nil {
			c.Keep(values)
		}
	}
	if cancel := c.d.Page.Cancel; cancel != nil && m.Method == cancel.Notify {
		c.cancelled(m)
	}
	if opened, err := c.opens(m); err != nil || opened {
		c.out = append(c.out, *m)
		return err
	}
	items, err := c.items(m)
	if err != nil || items {
		return err
	}
	at := len(c.out)
	c.out = append(c.out, *m)
	c.passOn(m)
	err = c.during(m, nil)
	c.out[at].Claimed = m.Claimed
	return err
}

// during appends the event of a running call that a notification contains. of is the call, or nil if it is not known.
func (c *Codec) during(m *wire.Message, of *call) error {
	w, served := &c.d.Page.During, &c.d.Page.Serve.During
	for _, way := range [...]struct {
		rule *load.Item
		say  *load.Say
		kind wire.EventKind
	}{{w.Progress, served.Progress, wire.Progress}, {w.Log, served.Log, wire.Log}, {w.Items, nil, wire.Data}} {
		if way.rule == nil || !dialect.Matches(way.rule.Method, m.Method) {
			continue
		}
		s, err := of, error(nil)
		if of == nil {
			s, err = c.claim(way.rule, way.say, m)
		} else if ok, fail := way.rule.When.Holds(m.Params, c.about(of, m).Value); !ok {
			s, err = nil, fail
		}
		if err != nil {
			return err
		}
		if s == nil && way.rule.When != nil && way.kind != wire.Log {
			continue // the call has ended
		}
		owner := s
		if owner == nil {
			owner = &call{}
		}
		shown := json.RawMessage(m.Params)
		if way.rule.Event != nil {
			if shown, err = way.rule.Event.First(m.Params, c.about(owner, m).Value); err != nil {
				return err
			}
		}
		if len(shown) == 0 {
			continue
		}
		c.trace("%s is %s of %s: %s", m.Method, way.kind, owner.method, shown)
		about := wire.Message{Kind: wire.Item, Beside: true, ID: owner.id, Raw: m.Raw, Event: event(way.kind, shown)}
		if way.rule.When == nil {
			about.ID, about.Target = nil, owner.id
		}
		c.out = append(c.out, about)
	}
	return nil
}

// belongs returns the call that a notification belongs to: the call for which the rule's condition is true or, without a condition,
// the only running call. It returns nil if there is none.
func (c *Codec) belongs(rule *load.Item, m *wire.Message) (*call, error) {
	var only *call
	for _, s := range c.calls {
		if s.rule != nil || !c.shares(s, m) {
			continue
		}
		if rule.When == nil {
			if only != nil {
				return nil, nil
			}
			only = s
			continue
		}
		if ok, err := rule.When.Holds(m.Params, c.about(s, m).Value); ok || err != nil {
			return s, err
		}
	}
	return only, nil
}

// event returns the event that a program's output describes.
func event(kind wire.EventKind, shown json.RawMessage) *wire.Event {
	if kind == wire.Data {
		return &wire.Event{Kind: kind, Data: bytes.Clone(shown)}
	}
	ev := &wire.Event{Kind: kind, Message: scan.String(scan.Get(shown, "message")), Level: scan.String(scan.Get(shown, "level"))}
	for name, to := range map[string]*json.RawMessage{"fraction": &ev.Fraction, "data": &ev.Data, "source": &ev.Source} {
		if val := scan.Get(shown, name); string(val) != "null" {
			*to = bytes.Clone(val)
		}
	}
	return ev
}

package request

import (
	"context"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/session"
)

// A classifier is the first stage of reading a response. It turns messages into events. All messages share a single
// event.
type classifier struct {
	event   wire.Event
	opening string // the response that opened the stream, until its first item, or ""
}

// classify returns the event of m, which is valid until the next one. It returns nil if the user sees no event, because
// m only opens the stream or
// --select excludes it.
func (c *classifier) classify(ctx context.Context, o *ReadOptions, conv session.Conversation, print *format.Pipeline, m *wire.Message) (*wire.Event, error) {
	if o.Choose {
		if ok, err := print.Selects(ctx, m); err != nil || !ok {
			return nil, err
		}
	}
	if o.Stream && o.opens(m) {
		return nil, nil
	}
	ev := &c.event
	if err := o.eventOf(conv, m, ev); err != nil {
		return nil, err
	}
	c.opening = ""
	if o.opens(m) {
		if c.opening = string(m.Body); ev.Kind != wire.Progress {
			return nil, nil
		}
	}
	if o.Stream && ev.Kind == wire.Progress && ev.Data != nil { // in a stream, the user wants the data of progress
		ev.Kind, ev.Message, ev.Fraction = wire.Data, "", nil
	}
	return ev, nil
}

// opens reports whether m is only the response that opens a stream.
func (o *ReadOptions) opens(m *wire.Message) bool {
	return (o.Stream || !o.Many) && o.Watch == nil && m.Kind == wire.Response && m.Err == nil && !m.Final
}

// eventOf sets ev to the event that a user sees for m. A message that --select chose becomes data, and keeps its
// event's name, number and time.
func (o *ReadOptions) eventOf(conv session.Conversation, m *wire.Message, ev *wire.Event) error {
	err := conv.Event(m, ev)
	if !o.Choose || m.Raw == nil {
		return err
	}
	chosen := wire.Event{Kind: wire.Data, Data: m.Raw}
	if err == nil {
		chosen.Method, chosen.Seq, chosen.Time = ev.Method, ev.Seq, ev.Time
	}
	*ev = chosen
	return nil
}

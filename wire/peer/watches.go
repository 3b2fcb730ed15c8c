package peer

import (
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/ending"
)

// maxHandshakes is how many handshake messages are stored for later watches.
const maxHandshakes = 8

// watch opens a stream of the peer's messages that match op. It begins with the stored handshake messages that match.
func (p *Peer) watch(op dialect.Op) (dialect.Stream, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := newStream(p, op)
	if p.end.State != ending.Open {
		return nil, p.end.Unwatched(op.Method)
	}
	p.calls.watches = append(p.calls.watches, s)
	for i := range p.calls.handshakes {
		if m := p.calls.handshakes[i]; op.Method != "" && op.Takes(m.Method) {
			m.Final = false
			p.deliverLocked(s, &m)
			p.calls.wake() // the reader may already be waiting
		}
	}
	return s, nil
}

// followLocked makes s a watch of a single stream. The watch sends no request and ends with that stream. The caller
// holds the lock.
func (p *Peer) followLocked(s *stream, token wire.ID) error {
	switch {
	case p.exchanger != nil:
		return &wire.Fault{Kind: wire.Usage, Method: s.op.Method, Message: "over HTTP POST the peer sends only responses"}
	case p.end.State == ending.EOF:
		return p.end.Unwatched(s.op.Method)
	}
	s.token, s.follows = string(token), true
	p.calls.watches = append(p.calls.watches, s)
	null := []byte("null")
	p.deliverLocked(s, &wire.Message{Kind: wire.Response, Raw: null, Body: null}) // stands in for a response
	p.calls.wake()
	return nil
}

// isWatch reports whether s only shows messages and has no request of its own.
func (s *stream) isWatch() bool { return s.follows || s.op.Kind == dialect.Watch }

// sees reports whether the watch s shows m. It returns false for an item with Beside set, because the watch shows the
// message that contains the item. A watch of methods shows no events of calls, which may be rpcx's own, and no responses.
func (s *stream) sees(m *wire.Message) bool {
	switch {
	case m.Kind == wire.Item && m.Beside:
		return false
	case s.follows:
		return m.Kind == wire.Item && s.token == string(m.Stream)
	}
	if of := s.p.calls.byToken[string(m.Stream)]; s.op.Method != "" && (m.Kind == wire.Response || of != nil && of.op.Kind == dialect.Call) {
		return false
	}
	return s.op.Takes(m.Method)
}

// showLocked delivers m to the watches that show it, and reports whether there are any. It does not show invalid JSON,
// which the reader of the output could not parse. It stores handshake messages for later watches. The caller holds the
// lock.
func (p *Peer) showLocked(m *wire.Message, sees func(w *stream, m *wire.Message) bool) (seen bool) {
	for i := len(p.calls.watches) - 1; i >= 0; i-- { // in reverse order, because an overfull watch is removed
		w := p.calls.watches[i]
		if m.Kind == wire.Invalid && isParseError(m) || !sees(w, m) {
			continue
		}
		seen = true
		final := m.Final // only watches of that stream end with it
		m.Final = final && w.follows
		p.deliverLocked(w, m)
		m.Final = final
	}
	if m.Kind == wire.Handshake && len(p.calls.handshakes) < maxHandshakes {
		p.calls.handshakes = append(p.calls.handshakes, m.Clone())
	}
	return seen
}

// firstItemLocked delivers the response m to s as the first item of the stream that the user asked for. That stream is
// s itself, or the watches that belong to s. The caller holds the lock.
func (p *Peer) firstItemLocked(s *stream, m *wire.Message, shown bool) {
	item := *m
	item.Kind, item.ID, item.Final = wire.Item, nil, false
	p.showLocked(&item, func(w *stream, _ *wire.Message) bool { return s.op.Beside != "" && w.op.Beside == s.op.Beside })
	if shown {
		p.deliverLocked(s, &item)
	}
}

// watched reports whether a watch names this method, and whether one shows all messages.
func (c *calls) watched(method string) (named, all bool) {
	for _, w := range c.watches {
		if w.op.Kind == dialect.Watch {
			all = all || w.op.Method == ""
			named = named || w.op.Method != "" && w.op.Takes(method)
		}
	}
	return named, all
}

// takenWholeLocked handles an array that contains no message of the dialect. It delivers the array as a whole to the
// watches and to Incoming, and reports whether any of them took it. Only JSON-RPC has batches. The caller holds the
// lock.
func (p *Peer) takenWholeLocked(msgs []wire.Message, raw []byte, in *stream) bool {
	for i := range msgs {
		if msgs[i].Kind != wire.Invalid || len(msgs[i].ID) > 0 || isParseError(&msgs[i]) {
			return false
		}
	}
	whole := &wire.Message{Kind: wire.Invalid, Raw: raw}
	if o := p.calls.ofShapeless(whole, in); o.call != nil {
		p.showLocked(whole, (*stream).sees)
		p.answerUnshapedLocked(o.call, whole)
		return true
	}
	if p.o.Client {
		whole.Kind, whole.Params, whole.Body = wire.Notification, raw, raw
	}
	return p.showLocked(whole, (*stream).sees) || p.incomingLocked(whole)
}

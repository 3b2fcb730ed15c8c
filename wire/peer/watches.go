package peer

import (
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/ending"
)

// maxHandshakes bounds the handshake messages that are kept for later watches.
const maxHandshakes = 8

// watch opens a stream of the peer's messages: all of them, or those that match op. It begins with the handshake
// messages of that method that have arrived.
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
			p.calls.wake() // the reader may be waiting already
		}
	}
	return s, nil
}

// followLocked makes s a watch of a single stream. It sends no request for the watch, which ends with that stream.
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
	p.deliverLocked(s, &wire.Message{Kind: wire.Response, Raw: null, Body: null}) // as if it had been answered
	p.calls.wake()
	return nil
}

// isWatch reports whether s only shows messages and has no request of its own.
func (s *stream) isWatch() bool { return s.follows || s.op.Kind == dialect.Watch }

// sees reports whether a watch shows m. It does not show an item with Beside set, because the watch shows the message
// to which the item belongs.
func (s *stream) sees(m *wire.Message) bool {
	switch {
	case m.Kind == wire.Item && m.Beside:
		return false
	case s.follows:
		return m.Kind == wire.Item && s.token == string(m.Stream)
	}
	return s.op.Takes(m.Method)
}

// showLocked delivers m to the watches for which sees returns true, and reports whether there is one. It does not show
// invalid JSON, because no reader could parse it. A handshake message is kept for later watches.
func (p *Peer) showLocked(m *wire.Message, sees func(w *stream, m *wire.Message) bool) (seen bool) {
	for i := len(p.calls.watches) - 1; i >= 0; i-- { // backwards, because a watch that queues too much is removed
		w := p.calls.watches[i]
		if m.Kind == wire.Invalid && isParseError(m) || !sees(w, m) {
			continue
		}
		seen = true
		final := m.Final // the end of the stream of m, which ends the watch only if the watch follows that stream
		m.Final = final && w.follows
		p.deliverLocked(w, m)
		m.Final = final
	}
	if m.Kind == wire.Handshake && len(p.calls.handshakes) < maxHandshakes {
		p.calls.handshakes = append(p.calls.handshakes, m.Clone())
	}
	return seen
}

// watched reports whether a watch waits for messages of this method only or, if all is set, for all messages.
func (c *calls) watched(method string, all bool) bool {
	return slices.ContainsFunc(c.watches, func(w *stream) bool {
		return w.op.Kind == dialect.Watch && (w.op.Method == "") == all && w.op.Takes(method)
	})
}

// takenWholeLocked delivers an array that contains no message of the dialect, as a whole, to the watches and to
// Incoming, and reports whether any of them took it. A dialect other than JSON-RPC has no batches.
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

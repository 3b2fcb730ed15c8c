package peer

import (
	"context"
	"fmt"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/ending"
	"rpcx/wire/peer/inbound"
	"rpcx/wire/scan"
)

// unownedLocked handles a message that belongs to no local call. seen is set if a watch has shown it. The caller holds
// the lock.
func (p *Peer) unownedLocked(m *wire.Message, g *inbound.Array, in *stream, seen bool) {
	switch m.Kind {
	case wire.Request:
		p.requestLocked(m, g)
	case wire.Cancel, wire.Notification:
		if m.Kind == wire.Cancel && p.requests.End(m.Target) {
			return
		}
		m.Kind = wire.Notification // treated like a Cancel of an unknown request
		p.notificationLocked(m)
	case wire.Item:
		p.unclaimedLocked(m)
	case wire.Response:
		p.unmatchedLocked(m, nil)
	case wire.Invalid:
		p.invalidLocked(m, g, in, seen)
	}
}

// notificationLocked queues a notification for the handler. If the queue is full, the reader should stop. While it must
// not stop, the queue has higher limits (see decodeLocked). The caller holds the lock.
func (p *Peer) notificationLocked(m *wire.Message) {
	if p.incomingLocked(m) {
		return
	}
	if p.handler.Handle == nil {
		p.unhandledLocked(m)
		return
	}
	if !p.end.Live() {
		return
	}
	if p.handler.Ignores != nil && !p.notifications.Running && p.handler.Ignores(m.Method) {
		p.unhandledLocked(m)
		return
	}
	p.notifications.Put(m, p.requests.Order())
	if !p.notifications.Running {
		p.notifications.Running = true
		p.wg.Go(p.handleNotifications)
	}
}

// handleNotifications passes the queued notifications to the handler, one at a time.
func (p *Peer) handleNotifications() {
	defer wire.Guard()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.notifications.Empty() && p.end.State < ending.Ended && p.ctx.Err() == nil {
		full := p.notifications.Full()
		in := p.notifications.Next()
		if full {
			p.change.Pass()
		}
		p.mu.Unlock()
		p.handleNotification(&in)
		p.mu.Lock()
	}
	p.notifications.Stop()
	p.change.Pass()
}

// handleNotification runs the handler for one notification.
func (p *Peer) handleNotification(in *dialect.Inbound) {
	method := in.Msg.Method
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			p.note(Note{Kind: NotePanic, Method: method, Text: panicText(v)})
		}
	}()
	in.Emit = func(wire.Event) error { return nil }
	_, err := p.handler.Handle(ctx, in)
	switch {
	case err == nil:
	case string(wire.AsError(err).Code) == "-32601":
		p.mu.Lock()
		p.unhandledLocked(&in.Msg)
		p.mu.Unlock()
	default:
		p.note(Note{Kind: NoteFailedNotification, Method: method, Text: fmt.Sprintf("handling the notification %s failed: %s", ending.Quoted(method), err)})
	}
}

// unhandledLocked reports to the user that there is no hook for a notification, unless the handshake awaited it or a
// watch shows this method. The caller holds the lock.
func (p *Peer) unhandledLocked(m *wire.Message) {
	named, all := p.calls.watched(m.Method)
	if !m.Awaited && !named {
		text := "no hook for the notification " + ending.Quoted(m.Method)
		p.noteLocked(Note{Kind: NoteUnhandledNotification, Method: m.Method, Text: text, Shown: all})
	}
}

// incomingLocked passes m to Incoming, without holding the lock, and reports whether Incoming took it.
func (p *Peer) incomingLocked(m *wire.Message) bool {
	if p.o.Incoming == nil {
		return false
	}
	c := m.Clone()
	p.calls.wake() // because Incoming may block
	p.mu.Unlock()
	defer p.mu.Lock()
	return p.o.Incoming(c)
}

// unclaimedLocked turns an item without a local call into a notification. The caller holds the lock.
func (p *Peer) unclaimedLocked(m *wire.Message) {
	if m.Beside { // Incoming receives the message that contains the item
		if ev, err := dialect.EventOf(p.codec, *m); err == nil && p.o.Incoming == nil {
			p.noteLocked(noteOf(ev))
		}
		return
	}
	m.Kind, m.Body, m.Final, m.Err = wire.Notification, m.Params, false, nil
	p.notificationLocked(m)
}

// unmatchedLocked handles a response without a local call. s is the call whose id it misspells, or nil. The caller
// holds the lock.
func (p *Peer) unmatchedLocked(m *wire.Message, s *stream) {
	switch {
	case p.passToAskerLocked(m) || p.incomingLocked(m):
	case m.Err != nil && noID(m.ID):
		p.noteLocked(Note{Kind: NoteStrayError, Text: "the peer sent an error without an id: " + m.Err.Error()})
	default:
		text := "dropped a response with an unknown id: "
		if s != nil {
			if p.o.Client && p.calls.waiting == 1 { // without this, the command would wait forever
				p.forgetLocked(s, &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: fmt.Sprintf("the response to %s has the id %s, but the call has the id %s", ending.Quoted(s.op.Method), excerpt(m.ID), s.id)})
				return
			}
			text = fmt.Sprintf("dropped a response with the id %s, because the call has the id %s: ", excerpt(m.ID), s.id)
		}
		p.noteLocked(Note{Kind: NoteUnknownResponse, Text: text + excerpt(m.Raw)})
	}
}

// invalidLocked handles a malformed message. A malformed message from a client is answered with an error. A malformed
// message from a server is answered only if it has a method and an id and thus needs a response: any other could be an
// error, and an error must not be answered with an error. The caller holds the lock.
func (p *Peer) invalidLocked(m *wire.Message, g *inbound.Array, in *stream, seen bool) {
	what := malformation(m)
	if in != nil && !m.Final {
		in.exchange.malformed = what
	}
	if !m.Final && p.foreignLocked(m, seen) { // a malformed message with Final set is a response
		return
	}
	p.noteLocked(Note{Kind: NoteMalformed, Text: what + ": " + excerpt(m.Raw)})
	asks := m.Method != "" && len(m.ID) > 0
	if !m.Final && in == nil && (asks || !p.o.Client) {
		p.refuseLocked(inbound.New(m, g), m.Err)
	}
}

// foreignLocked treats a malformed message as an event from a peer with another dialect. It reports whether a watch,
// Incoming, or the hook with its name received the event. The caller holds the lock.
func (p *Peer) foreignLocked(m *wire.Message, seen bool) bool {
	if !m.Bare {
		return seen || !isParseError(m) && p.incomingLocked(m)
	}
	m.Kind, m.ID, m.Err = wire.Notification, nil, nil
	if m.Method == "" {
		return p.incomingLocked(m) || seen
	}
	p.notificationLocked(m)
	return true
}

// brokenLocked fails the calls that the malformed message m was meant to answer. The caller holds the lock.
func (p *Peer) brokenLocked(o *owner, m *wire.Message) {
	what := malformation(m)
	for _, s := range append([]*stream{o.call}, o.others()...) {
		p.forgetLocked(s, &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: what + ", in response to " + ending.Quoted(s.op.Method)})
	}
}

// malformation describes what is wrong with m, which is an Invalid message.
func malformation(m *wire.Message) string {
	what := "the peer sent a malformed message"
	if m.Err != nil {
		what += ": " + m.Err.Message
		if why, ok := scan.Text(m.Err.Data); ok {
			what += " (" + why + ")"
		}
	}
	return what
}

// Answered records that a Raw message has answered the requests with these ids, which Incoming took. If several
// requests have the same id, it records the oldest.
func (p *Peer) Answered(ids ...wire.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if taken := p.requests.Taken(id); len(taken) > 0 {
			p.untakeLocked(taken[0])
			p.owesNothingLocked(taken[0])
		}
	}
}

// RejectOpen answers with e the pending requests that Incoming took. With ids, it answers only those.
func (p *Peer) RejectOpen(e *wire.Error, ids ...wire.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.requests.Taken(ids...) {
		p.untakeLocked(in)
		p.refuseLocked(in, e)
	}
}

// Pending returns the number of pending local calls, including streams, and the number of pending requests from the
// peer.
func (p *Peer) Pending() (ours, theirs int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls.count(), p.requests.Len()
}

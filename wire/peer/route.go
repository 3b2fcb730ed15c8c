package peer

import (
	"bytes"
	"fmt"
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/early"
	"rpcx/wire/peer/ending"
	"rpcx/wire/peer/inbound"
)

// routeLocked routes one message to the watches that show it, and to its owner. g collects the responses to the array
// that contains m, and in is the call whose exchange carried m. Each of them may be nil. The caller holds the lock.
func (p *Peer) routeLocked(m *wire.Message, g *inbound.Array, in *stream) {
	seen := p.showLocked(m, (*stream).sees)
	if m.Kind == wire.Response && p.calls.pipeline.answered(m) {
		return
	}
	o := p.calls.owner(m, in, g == nil)
	s := o.call
	switch o.as {
	case noOwner:
		p.unownedLocked(m, g, in, seen)
	case misspelled:
		p.unmatchedLocked(m, s)
	case broken:
		p.brokenLocked(&o, m)
	case answer:
		for _, other := range o.others() { // the peer rejected the whole batch with one response
			p.forgetLocked(other, io.EOF)
			s.restore = nil
		}
		p.answeredLocked(s, m)
	case unshaped:
		p.answerUnshapedLocked(s, m)
	case item:
		p.respondLocked(s, m)
	case streamed:
		p.deliverLocked(s, m)
	case lateAnswer:
		p.tooLateLocked(s, m)
	case leftOpen:
		if s.streamed = true; !m.Final {
			p.unsubscribeLocked(s, false)
		}
	case unnamed:
		p.earlyLocked(s, m)
	}
}

// answeredLocked handles the first response to s. The response may open a stream whose first items have already
// arrived. The caller holds the lock.
func (p *Peer) answeredLocked(s *stream, m *wire.Message) {
	var token wire.ID
	m.Final = true
	if m.Err == nil && s.op.Kind != dialect.Raw && s.op.Kind != dialect.Unsubscribe && s.op.Kind != dialect.Cancel {
		token, m.Final = p.codec.Opened(s.op, *m)
		m.Stream = token
	}
	first := token == nil && holdsItem(m)
	shown := first && m.Final && s.op.Lasting && p.can.OpenEnded && p.exchanger == nil
	m.Final = m.Final && !shown
	p.respondLocked(s, m)
	if first && s.op.Kind == dialect.Subscribe {
		p.firstItemLocked(s, m, shown)
	}
	if token != nil && !s.ended() {
		p.openedLocked(s, token)
	}
}

// holdsItem reports whether the response m has content. A response with null, true or {} only confirms that the request
// was accepted.
func holdsItem(m *wire.Message) bool {
	body := bytes.TrimSpace(m.Body)
	switch {
	case m.Err != nil, len(body) == 0, body[0] == 'n', body[0] == 't':
		return false
	case body[0] == '{':
		return len(bytes.TrimSpace(body[1:])) > 1
	}
	return true
}

// openedLocked records that the response to s opened the stream with this token. It delivers the early items of that
// stream. Other early items of the same exchange do not belong to any call. The caller holds the lock.
func (p *Peer) openedLocked(s *stream, token wire.ID) {
	p.calls.name(s, token)
	var rest []wire.Message
	if x := s.exchange; x != nil {
		p.catchUpLocked(s, &x.early)
		rest = x.early.Clear()
	}
	p.catchUpLocked(s, &p.calls.early)
	for i := range rest {
		p.unclaimedLocked(&rest[i])
	}
}

// catchUpLocked delivers to s the items that arrived before the response that named their stream. The caller holds the
// lock.
func (p *Peer) catchUpLocked(s *stream, e *early.Items) {
	items := e.Take(wire.ID(s.token))
	for i := range items {
		p.deliverLocked(s, &items[i])
	}
	lost := e.Missing(wire.ID(s.token))
	switch {
	case lost == 0 || s.ended():
	case p.o.Lossy:
		s.box.Lose(lost)
	default:
		p.leaveStreamLocked(s, &wire.Fault{Kind: wire.IO, Method: s.op.Method, Message: fmt.Sprintf(
			"%d items of the stream arrived before the response to %s and were lost: their queue is limited to %d bytes",
			lost, ending.Quoted(s.op.Method), p.o.StreamBuffer)}, false)
	}
}

// earlyLocked stores m, an item of a stream that no response has named yet. If m is also the last item, the stream is
// assigned to the call of its exchange, in, or else to the only call that can have requested it. The caller holds the
// lock.
func (p *Peer) earlyLocked(in *stream, m *wire.Message) {
	e := &p.calls.early
	if in != nil {
		e = &in.exchange.early
	}
	if !e.Keep(m, p.o.StreamBuffer) {
		p.unclaimedLocked(m)
		return
	}
	if m.Final && in == nil && p.calls.awaiting == 1 && !p.calls.unsolicited {
		in = p.calls.onlyOpen()
	}
	if m.Final && in != nil {
		p.calls.setWaiting(in, false)
		p.calls.name(in, m.Stream)
		p.catchUpLocked(in, e)
		p.calls.abandon(in) // its response may still arrive
	}
}

// releaseEarlyLocked turns items that no call can claim into notifications. The caller holds the lock.
func (p *Peer) releaseEarlyLocked() {
	for items := p.calls.unclaimed(); len(items) > 0; items = p.calls.unclaimed() {
		for i := range items {
			p.unclaimedLocked(&items[i])
		}
	}
}

// answerUnshapedLocked delivers m to s as its response. m counts as an error only if it has a code, because the
// response to a message that is not a request may have any form. The caller holds the lock.
func (p *Peer) answerUnshapedLocked(s *stream, m *wire.Message) {
	c := *m
	c.Final = true
	if m.Err == nil || m.Kind != wire.Response || m.Err.Code == nil {
		c.Err = nil
		c.Event = &wire.Event{Kind: wire.Data, Final: true, Data: bytes.Clone(m.Raw)}
	}
	p.respondLocked(s, &c)
}

// tooLateLocked drops the response to an abandoned call, and ends the stream that the response opens. The caller holds
// the lock.
func (p *Peer) tooLateLocked(s *stream, m *wire.Message) {
	if s.late != nil {
		defer close(s.late)
	}
	if m.Err != nil || s.named || s.op.Kind != dialect.Subscribe && s.op.Kind != dialect.Call {
		return
	}
	token, final := p.codec.Opened(s.op, *m)
	if final || token == nil {
		return
	}
	p.calls.discard(token)
	s.token, s.named = string(token), true
	p.unsubscribeLocked(s, false)
}

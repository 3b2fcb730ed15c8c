package peer

import (
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// receiveAll reads until the connection ends, and returns why it did.
func (p *Peer) receiveAll() error {
	for {
		raw, err := p.conn.Recv()
		if err != nil {
			return err
		}
		if p.buffered != nil && p.o.Tap == nil {
			err = p.receiveRead(raw)
		} else {
			p.tap(wire.Recv, raw)
			err = p.receive(raw, nil)
		}
		if err != nil {
			return err
		}
	}
}

// maxRoutedTogether is how many messages are routed before the lock is released for others.
const maxRoutedTogether = 256

// receiveRead handles raw and the messages that were read together with it. It records them first,
// without the lock.
func (p *Peer) receiveRead(raw []byte) (err error) {
	p.together = p.buffered.Buffered(append(p.together[:0], raw), maxRoutedTogether)
	if p.o.Record != nil {
		p.o.Record(wire.Recv, p.together[0], p.together[1:]...)
	}
	for rest := p.together; len(rest) > 0 && err == nil; {
		p.mu.Lock()
		for {
			err = p.decodeLocked(rest[0], nil)
			if rest = rest[1:]; len(rest) == 0 || err != nil || len(p.pendingNotes) > 0 || p.mustStopLocked(nil) {
				break
			}
		}
		p.throttleLocked(nil)
		p.unlockAndTell()
	}
	return err
}

// receive decodes and routes raw. in is the call whose exchange brought it; nil for a connection in
// both directions. Then it waits while the reader has to stop. An error ends the connection.
func (p *Peer) receive(raw []byte, in *stream) error {
	if p.exchanger != nil {
		p.recvMu.Lock()
	}
	p.mu.Lock()
	err := p.decodeLocked(raw, in)
	if p.exchanger != nil {
		p.recvMu.Unlock()
	}
	p.throttleLocked(in)
	p.unlockAndTell()
	return err
}

// decodeLocked decodes raw and routes its messages.
func (p *Peer) decodeLocked(raw []byte, in *stream) error {
	p.releaseEarlyLocked()
	msgs, batch, err := p.codec.Decode(raw)
	if batch && p.takenWholeLocked(msgs, raw, in) {
		msgs, batch = nil, false
	}
	var g *group
	if batch {
		g = &group{}
	}
	for i := range msgs { // messages may come together with the error
		p.routeLocked(&msgs[i], g, in)
	}
	p.releaseEarlyLocked()
	if g != nil {
		g.complete = true
		p.sendGroupLocked(g)
	}
	return err
}

// routeLocked routes one message.
func (p *Peer) routeLocked(m *wire.Message, g *group, in *stream) {
	p.nameBareLocked(m)
	seen := p.watchedLocked(m)
	switch m.Kind {
	case wire.Response:
		p.responseLocked(m, g, in)
	case wire.Item:
		p.itemLocked(m, in)
	case wire.Request:
		p.requestLocked(m, g)
	case wire.Notification:
		p.notificationLocked(m)
	case wire.Cancel:
		p.cancelledLocked(m)
	case wire.Greeting:
		p.calls.greet(m)
	case wire.Invalid:
		p.invalidLocked(m, g, in, seen)
	}
}

// responseLocked routes a response to the call of ours that it answers.
func (p *Peer) responseLocked(m *wire.Message, g *group, in *stream) {
	if p.calls.pipeline.answerLocked(m) {
		return
	}
	s := p.calls.byID[string(m.ID)]
	if s == nil && noID(m.ID) {
		p.anonymousLocked(m, g, in)
		return
	}
	switch {
	case s == nil && p.calls.abandoned[string(m.ID)] != nil:
		p.tooLateLocked(p.calls.abandoned[string(m.ID)], m)
	case s == nil && in != nil && in.dropped.Load() && in.id == string(m.ID): // its exchange is about to be cancelled
	case s == nil:
		if next := p.nextAnswerLocked(m, in); next != nil {
			p.answerUnshapedLocked(next, m)
			return
		}
		p.unclaimedLocked(m)
	case !s.waiting: // items of this dialect have the id of their request
		m.Kind, m.Stream = wire.Item, nil
		m.Final = m.Final || m.Err != nil
		p.deliverLocked(s, m)
	default:
		p.answeredLocked(s, m)
	}
}

// anonymousLocked routes an answer without an id: to the call that was sent without one, or if it
// is an error to the only call or batch that it can belong to.
func (p *Peer) anonymousLocked(m *wire.Message, g *group, in *stream) {
	next := p.nextAnswerLocked(m, in)
	var calls []*stream
	if m.Err != nil {
		calls = p.calls.refused(in, g == nil)
	}
	switch {
	case next != nil && len(calls) < 2:
		p.answerUnshapedLocked(next, m)
		return
	case m.Err == nil:
		p.unclaimedLocked(m)
		return
	case len(calls) == 0:
		p.strayLocked(m)
		return
	}
	for _, other := range calls[1:] { // the batch was refused as a whole: one answer for all its calls
		p.forgetLocked(other, io.EOF)
		calls[0].own = nil
	}
	p.answeredLocked(calls[0], m)
}

// answeredLocked handles the first response to s. It may open a stream, of which items may have
// come already.
func (p *Peer) answeredLocked(s *stream, m *wire.Message) {
	var token wire.ID
	m.Final = true
	if m.Err == nil && s.op.Kind != dialect.Raw && s.op.Kind != dialect.Unsubscribe && s.op.Kind != dialect.Cancel {
		token, m.Final = p.codec.Opened(s.op, *m)
		m.Stream = token
	}
	first := m.Err == nil && token == nil && m.Kind == wire.Response && !acknowledges(m.Body) // the answer itself has content
	shown := first && m.Final && s.op.Lasting && p.can.OpenEnded && p.exchanger == nil
	m.Final = m.Final && !shown
	p.calls.setWaiting(s, false)
	if s.op.Kind == dialect.Raw { // in order with all other messages
		p.answerToLocked(s.op.Answer, p.restored(m, s.own))
	}
	p.deliverLocked(s, m)
	if first && s.op.Kind == dialect.Subscribe {
		p.firstItemLocked(s, m, shown)
	}
	if token == nil || s.ended {
		return
	}
	p.calls.name(s, token)
	p.catchUpLocked(s, &s.early)
	p.catchUpLocked(s, &p.calls.early)
	rest := s.early.items
	s.early = earlyItems{}
	for i := range rest {
		p.unclaimedLocked(&rest[i])
	}
}

// tooLateLocked drops the response to a call that was given up. If it opens a stream, it ends the
// stream.
func (p *Peer) tooLateLocked(s *stream, m *wire.Message) {
	delete(p.calls.abandoned, s.id)
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
	p.calls.endedStreams.add(string(token))
	p.calls.early.take(token)
	p.sayLocked(dialect.Op{
		Kind: dialect.Unsubscribe, Of: &s.op, OfID: wire.ID(s.id),
		Stream: token.Clone(), Unsubscribe: s.op.Unsubscribe,
	}, false)
}

// itemLocked routes one item: to the call that it names, to the call of its exchange, or to its
// stream. An item of an unknown stream belongs to the call in whose exchange it came, if that goes
// on.
func (p *Peer) itemLocked(m *wire.Message, in *stream) {
	var s *stream
	switch {
	case len(m.ID) > 0:
		s = p.calls.find(m.ID)
	case m.Beside && in != nil && !in.ended && !in.answers:
		s = in
	case m.Beside && len(m.Target) > 0:
		s = p.calls.find(m.Target)
	}
	if s != nil {
		if !m.Beside {
			p.calls.setWaiting(s, false)
		}
		if s.op.Kind == dialect.Raw { // in its place among all else that comes in
			p.answerToLocked(s.op.Answer, p.restored(m, s.own))
		}
		p.deliverLocked(s, m)
		return
	}
	if in != nil && !in.ended && m.Stream != nil { // other exchanges may use the same ids
		switch {
		case p.can.Unsolicited && !in.waiting && !in.named && !in.answers:
			p.calls.name(in, m.Stream)
			p.deliverLocked(in, m)
			return
		case in.named && in.token == string(m.Stream):
			p.deliverLocked(in, m)
			return
		case in.waiting && !in.oneAnswer && !in.early.keep(m, p.o.StreamBuffer):
			p.unclaimedLocked(m)
			return
		case in.waiting && !in.oneAnswer:
			if m.Final {
				p.adoptLocked(in, m.Stream, &in.early)
			}
			return
		}
	}
	if m.Stream != nil {
		if s := p.calls.named(m.Stream); s != nil {
			p.deliverLocked(s, m)
			return
		}
	}
	if len(m.ID) > 0 && p.calls.abandoned[string(m.ID)] != nil {
		return
	}
	switch {
	case m.Stream != nil && p.calls.endedStreams.has(m.Stream):
	case m.Stream != nil && p.calls.awaiting > 0 && p.calls.early.keep(m, p.o.StreamBuffer):
		if m.Final && p.calls.awaiting == 1 && !p.can.Unsolicited {
			p.adoptLocked(p.calls.onlyOpen(), m.Stream, &p.calls.early)
		}
	default:
		p.unclaimedLocked(m)
	}
}

func noID(id wire.ID) bool { return len(id) == 0 || string(id) == "null" }

package peer

import (
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// receiveAll reads until the connection ends, and says why it did.
func (p *Peer) receiveAll() error {
	for {
		raw, err := p.conn.Recv()
		if err != nil {
			return err
		}
		if p.o.Tap != nil {
			p.o.Tap(wire.Recv, raw)
		}
		if err := p.receive(raw, nil); err != nil {
			return err
		}
	}
}

// receive decodes and routes what came as one; in is the call whose exchange
// brought it, nil for a connection in both directions. It waits afterwards
// while somebody must catch up first. An error ends the connection.
func (p *Peer) receive(raw []byte, in *stream) error {
	if p.exchanger != nil {
		p.recvMu.Lock()
	}
	p.mu.Lock()
	p.releaseEarly()
	msgs, batch, err := p.codec.Decode(raw)
	if batch && p.takenWhole(msgs, raw) {
		msgs, batch = nil, false
	}
	if err == nil || len(msgs) > 0 { // a last word may come with the end
		var g *group
		if batch {
			g = &group{}
		}
		for i := range msgs {
			p.route(&msgs[i], g, in)
		}
		p.releaseEarly()
		if g != nil {
			g.complete = true
			p.sendGroup(g)
		}
	}
	if p.exchanger != nil {
		p.recvMu.Unlock()
	}
	p.throttle(in)
	p.unlockAndTell()
	return err
}

// throttle waits while reading on would only fill memory. It never waits while
// somebody needs an answer that is still to be read. The lock is held, but
// given up while it waits.
func (p *Peer) throttle(in *stream) {
	for p.mustStop(in) {
		c := p.change.wait()
		p.wakeDirty()
		p.unlockAndTell()
		<-c
		p.mu.Lock()
	}
}

func (p *Peer) mustStop(in *stream) bool {
	switch {
	case p.state >= closing:
		return false
	case p.outBytes > floodBytes: // answers that the far side does not read
		return true
	case in != nil: // an exchange is read on its own: nobody else waits for it
		return in.over || p.posting > postsMost && !in.answers
	}
	return (p.over > 0 || p.newsFull()) && p.waiting == 0 && p.owed == 0
}

// route gives one message to whom it belongs. The lock is held.
func (p *Peer) route(m *wire.Message, g *group, in *stream) {
	seen := p.watched(m)
	switch m.Kind {
	case wire.Response:
		p.response(m, g, in)
	case wire.Item:
		p.item(m, in)
	case wire.Request:
		p.request(m, g)
	case wire.Notification:
		p.notification(m)
	case wire.Cancel:
		p.cancelled(m)
	case wire.Greeting:
		p.greeted(m)
	case wire.Invalid:
		p.invalid(m, g, in, seen)
	}
}

// response routes an answer to a call of ours.
func (p *Peer) response(m *wire.Message, g *group, in *stream) {
	s := p.calls[string(m.ID)]
	if s == nil && noID(m.ID) {
		if m.Err == nil {
			p.unclaimed(m)
			return
		}
		if in == nil && p.nameless > 0 {
			p.nameless--
			p.stray(m)
			return
		}
		calls := p.refused(in, g == nil)
		if len(calls) == 0 {
			p.stray(m)
			return
		}
		s = calls[0]
		for _, other := range calls[1:] { // one refusal is one answer, with no call's id
			p.forget(other, io.EOF)
			s.own = nil
		}
	}
	switch {
	case s == nil && p.left[string(m.ID)] != nil:
		p.tooLate(p.left[string(m.ID)], m)
	case s == nil:
		p.unclaimed(m)
	case !s.waiting: // the dialect's items have the request's id
		m.Kind, m.Stream = wire.Item, nil
		m.Final = m.Final || m.Err != nil
		p.deliver(s, m)
	default:
		p.answered(s, m)
	}
}

// answered takes the first response to s: it may open a stream, of which items
// may have come before.
func (p *Peer) answered(s *stream, m *wire.Message) {
	var token wire.ID
	m.Final = true
	if m.Err == nil && s.op.Kind != dialect.Raw && s.op.Kind != dialect.Unsub && s.op.Kind != dialect.Cancel {
		token, m.Final = p.codec.Opened(s.op, *m)
		m.Stream = token
	}
	p.wait(s, false)
	if s.op.Kind == dialect.Raw { // in its place among all else that comes in
		p.answerTo(s.op.Answer, restored(m, s.own))
	}
	p.deliver(s, m)
	if token == nil || s.ended {
		return
	}
	p.name(s, token)
	p.catchUp(s, &s.early)
	p.catchUp(s, &p.early)
	rest := s.early.items
	s.early = early{}
	for i := range rest {
		p.unclaimed(&rest[i])
	}
}

// catchUp delivers what came of the stream of s before it was named.
func (p *Peer) catchUp(s *stream, e *early) {
	items := e.take(wire.ID(s.token))
	for i := range items {
		p.deliver(s, &items[i])
	}
}

// tooLate drops the response to a call that nobody waits for. A stream that it
// opens is ended.
func (p *Peer) tooLate(s *stream, m *wire.Message) {
	delete(p.left, s.id)
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
	p.late.add(string(token))
	p.early.take(token)
	p.say(dialect.Op{
		Kind: dialect.Unsub, Of: &s.op, OfID: wire.ID(s.id),
		Stream: token.Clone(), Unsubscribe: s.op.Unsubscribe,
	}, false)
}

// item routes one piece of a stream: by the call that it names, by its exchange,
// by its stream. What comes in the exchange of a call that goes on, and is of a
// stream that nobody named, is that call's.
func (p *Peer) item(m *wire.Message, in *stream) {
	if s := p.calls[string(m.ID)]; len(m.ID) > 0 && s != nil {
		if !m.Beside {
			p.wait(s, false)
		}
		if s.op.Kind == dialect.Raw { // in its place among all else that comes in
			p.answerTo(s.op.Answer, restored(m, s.own))
		}
		p.deliver(s, m)
		return
	}
	if in != nil && !in.ended && m.Stream != nil { // other exchanges may use the same ids
		switch {
		case p.bystander && !in.waiting && !in.named && !in.answers:
			p.name(in, m.Stream)
			p.deliver(in, m)
			return
		case in.named && in.token == string(m.Stream):
			p.deliver(in, m)
			return
		case in.waiting && !in.single && in.early.keep(m, p.o.StreamBuffer):
			if m.Final {
				p.adopt(in, m.Stream, &in.early)
			}
			return
		}
	}
	if m.Stream != nil {
		if s := p.streams[string(m.Stream)]; s != nil {
			p.deliver(s, m)
			return
		}
	}
	if len(m.ID) > 0 && p.left[string(m.ID)] != nil {
		return
	}
	switch {
	case m.Stream != nil && p.late.has(m.Stream):
	case m.Stream != nil && p.awaiting > 0 && p.early.keep(m, p.o.StreamBuffer):
		if m.Final && p.awaiting == 1 && !p.bystander {
			p.adopt(p.onlyOpen(), m.Stream, &p.early)
		}
	default:
		p.unclaimed(m)
	}
}

// adopt gives a stream that came to its end before any response named it to the
// one call that can have asked for it.
func (p *Peer) adopt(s *stream, token wire.ID, e *early) {
	p.wait(s, false)
	p.name(s, token)
	p.catchUp(s, e)
	p.leaveBehind(s) // its response may still come
}

// onlyOpen is the one call that may be answered by a stream and waits.
func (p *Peer) onlyOpen() *stream {
	for _, s := range p.calls {
		if s.waiting && !s.single {
			return s
		}
	}
	return nil
}

// releaseEarly makes notifications of items that no call can want any more.
func (p *Peer) releaseEarly() {
	for p.awaiting == 0 && len(p.early.items) > 0 {
		items := p.early.items
		p.early = early{}
		for i := range items {
			p.unclaimed(&items[i])
		}
	}
}

// unclaimed takes what no call of ours wants.
func (p *Peer) unclaimed(m *wire.Message) {
	switch {
	case m.Kind == wire.Item && m.Beside: // of no call; Incoming sees the message itself
		if ev, err := p.codec.Event(*m); err == nil && p.o.Incoming == nil {
			p.later(told(ev))
		}
		return
	case m.Kind == wire.Item:
		m.Kind, m.Body, m.Final, m.Err = wire.Notification, m.Params, false, nil
		p.notification(m)
		return
	}
	if !p.incoming(m) {
		p.later(Note{Kind: NoteUnknownResponse, Text: "a response to no call of ours was dropped: " + excerpt(m.Raw)})
	}
}

func noID(id wire.ID) bool { return len(id) == 0 || string(id) == "null" }

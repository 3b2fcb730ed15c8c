package peer

import (
	"context"
	"io"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// wakeBytes is how much may wait in a stream before its consumer is woken
// although the connection has more at once.
const wakeBytes = 64 << 10

// stream is one operation of ours and the messages that answer it. It is in the
// tables from before its message is sent until its final message, its failure
// or Cancel.
type stream struct {
	p     *Peer
	op    dialect.Op
	id    string  // of the request; "": none
	own   wire.ID // the id that the user gave, where ours replaced it; nil: none
	token string  // of the stream that the answer opened; "": none
	named bool    // token counts
	// follows: it is a watch of the stream token.
	follows bool
	// single: its first response is its only answer (Encode said Final).
	single  bool
	waiting bool // for its first response
	stop    context.CancelFunc
	late    chan struct{} // closed when the response comes that Cancel waits for; nil: it does not
	batch   *rawBatch     // that it was sent in; nil: by itself
	answers bool          // it is no call, but the exchange of an answer of ours
	early   early         // of its exchange; see Peer.early
	// malformed is what came in its exchange and was no message.
	malformed string

	queue
	lost  int64 // messages that were dropped, and the consumer was not told
	over  bool  // queues more than it should
	ended bool  // nothing more is queued
	err   error // io.EOF after the final message, else why it failed
	cut   bool  // it ended because the connection did
	asks  bool  // the consumer waits for wake
	dirty bool  // in the peer's list of streams to wake
	wake  chan struct{}

	dropped atomic.Bool // Cancel was called: what the consumer still holds is void

	taken *chunk // the consumer's; read without the lock
	pos   int
}

func newStream(p *Peer, op dialect.Op) *stream {
	return &stream{p: p, op: op, wake: make(chan struct{}, 1)}
}

// Next returns the next message. It allocates nothing when one is queued. Only
// one goroutine may be in Next. The first message of a Subscribe is its
// response, of Kind Response, and not an item.
func (s *stream) Next(ctx context.Context) (wire.Message, error) {
	if c := s.taken; c != nil && s.pos < len(c.msgs) && !s.dropped.Load() {
		s.pos++
		return c.msgs[s.pos-1], nil
	}
	return s.refill(ctx)
}

// Waiting reports whether a message, or the stream's own end, can be had at once.
func (s *stream) Waiting() bool {
	if c := s.taken; c != nil && s.pos < len(c.msgs) {
		return true
	}
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.first != nil && (s.ended || s.due()) || s.ended && !s.cut
}

// Severed reports that the stream ended because the connection did: its own end
// had not come by then.
func (s *stream) Severed() bool {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.cut
}

// due says that what is queued is worth handing over: it is much, or nothing
// more is coming at once. Taking each message as it comes would have reader and
// consumer fight for the lock. The lock is held.
func (s *stream) due() bool { return !s.dirty || s.size >= wakeBytes }

// refill takes the next chunk, for which it waits. Messages that were queued
// before a stream ended outlive ctx; those of a live stream do not, so that a
// stream that never pauses can be left.
func (s *stream) refill(ctx context.Context) (wire.Message, error) {
	p := s.p
	for {
		p.mu.Lock()
		s.recycle(s.taken)
		s.taken, s.pos = nil, 0
		if s.lost > 0 && s.first != nil {
			gap := wire.Message{Kind: wire.Item, Event: &wire.Event{Kind: wire.Gap, Missed: s.lost}}
			s.lost = 0
			p.mu.Unlock()
			return gap, nil
		}
		if s.ended || ctx.Err() == nil && s.due() {
			s.taken = s.take()
		}
		if s.taken != nil {
			s.pos = 1
			p.relieve(s)
			p.mu.Unlock()
			return s.taken.msgs[0], nil
		}
		if s.ended {
			p.mu.Unlock()
			return wire.Message{}, s.err
		}
		if err := ctx.Err(); err != nil {
			p.mu.Unlock()
			return wire.Message{}, err
		}
		s.asks = true
		p.mu.Unlock()
		select {
		case <-s.wake:
		case <-ctx.Done():
		}
	}
}

// Cancel tells the far side and forgets the stream. Messages that are queued
// are dropped; Next returns io.EOF from then on. ctx bounds how long the answer
// is waited for, and before it what a Subscribe is answered that was not yet: by
// what it is called there it can be ended.
func (s *stream) Cancel(ctx context.Context) error {
	p := s.p
	p.mu.Lock()
	if s.ended {
		p.mu.Unlock()
		return nil
	}
	s.dropped.Store(true)
	goodbye := p.leaveStream(s, io.EOF, true)
	if s.op.Kind == dialect.Subscribe && s.id != "" && p.left[s.id] == s {
		s.late = make(chan struct{})
	}
	s.drop()
	p.mu.Unlock()
	if s.late != nil {
		select {
		case <-s.late:
		case <-p.done:
		case <-ctx.Done():
		}
	}
	if goodbye == nil {
		return nil
	}
	_, err := goodbye.Next(ctx)
	if err == nil || err == io.EOF {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(goodbye, io.EOF)
	p.leaveBehind(goodbye)
	return err
}

// leaveStream ends s with err on our side and asks the far side to end it on
// its own. It returns the call that asks, where it has an answer and somebody
// awaits it. The lock is held.
func (p *Peer) leaveStream(s *stream, err error, await bool) *stream {
	unanswered := s.waiting
	p.forget(s, err)
	switch {
	case s.isWatch():
		return nil
	case s.stop != nil: // the exchange is the call
		s.stop()
		return nil
	case unanswered:
		p.leaveBehind(s)
		p.say(dialect.Op{Kind: dialect.Cancel, Of: &s.op, OfID: wire.ID(s.id)}, false)
		return nil
	}
	op := dialect.Op{Kind: dialect.Unsub, Of: &s.op, OfID: wire.ID(s.id), Unsubscribe: s.op.Unsubscribe}
	if s.named {
		op.Stream = wire.ID(s.token)
	}
	if bye, ok := p.say(op, await); ok {
		return bye
	}
	op.Kind = dialect.Cancel
	bye, _ := p.say(op, await)
	return bye
}

// say sends op, where the dialect can say it and the connection can carry it.
// It returns the call that gets the answer, if there is one and somebody awaits
// it. It does not wait for room: there is one such message for each call.
func (p *Peer) say(op dialect.Op, await bool) (*stream, bool) {
	if p.state != open {
		return nil, true
	}
	msg, err := p.codec.Encode(op)
	if err != nil {
		return nil, false
	}
	if len(msg.ID) == 0 {
		p.send(outgoing{msg: msg.Raw})
		return nil, true
	}
	s := newStream(p, op)
	if !await {
		s.id = string(msg.ID)
		p.leaveBehind(s)
		p.send(outgoing{msg: msg.Raw})
		return nil, true
	}
	s.single = true
	p.register(s, msg)
	p.send(outgoing{msg: msg.Raw, call: s})
	return s, true
}

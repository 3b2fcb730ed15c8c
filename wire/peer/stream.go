package peer

import (
	"context"
	"io"
	"slices"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// wakeBytes is how many bytes may wait in a stream before its consumer is woken although more
// messages can be read at once.
const wakeBytes = 64 << 10

// stream is one operation of ours and the messages that answer it. It is in the
// tables of calls from before its message is sent until its final message, its
// failure or Cancel.
type stream struct {
	p *Peer
	request
	exchanged

	queue
	streamEnd
	asks  bool          // the consumer waits for wake
	dirty bool          // in calls.dirty
	wake  chan struct{} // receives a value when there is something for the consumer

	dropped atomic.Bool // Cancel was called: messages that the consumer still holds are dropped

	current *chunk // the consumer's; read without the mutex
	pos     int    // the next message in current
}

// A request holds the message that a stream sent, and the ids under which its
// answers come.
type request struct {
	op        dialect.Op
	id        string        // of the request; "": none
	own       wire.ID       // the id that the user gave, if ours replaced it; else nil
	token     string        // of the stream that the answer opened; "": none
	named     bool          // token counts
	follows   bool          // it is a watch of the stream token, and sent nothing
	oneAnswer bool          // its first response is its only answer (Encode said Final)
	waiting   bool          // for its first response
	batch     *rawBatch     // the batch that it was sent in; nil: it was sent by itself
	late      chan struct{} // closed when the response comes that Cancel waits for; nil: it does not
}

// An exchanged is the part of a stream that belongs to its exchange, on a wire.Exchanger.
type exchanged struct {
	stop      context.CancelFunc // ends the exchange
	answers   bool               // it carries an answer of ours, and is no call
	early     earlyItems         // as calls.early, of this exchange
	optional  bool               // it may end without an answer
	malformed string             // text that came in it and was no message
	outside   bool               // the exchange has ended, and further items come outside of it
}

// A streamEnd records which messages a stream's consumer missed, and how the stream
// ended.
type streamEnd struct {
	lost     int64 // messages that were dropped without telling the consumer yet
	overfull bool  // it queues more than it should
	stuck    bool  // the reader has waited in vain for its consumer, which has taken nothing since
	ended    bool  // nothing more is queued
	err      error // io.EOF after the final message, else why it failed
	cut      bool  // it ended because the connection did
}

func newStream(p *Peer, op dialect.Op) *stream {
	return &stream{p: p, request: request{op: op}, wake: make(chan struct{}, 1)}
}

// Next returns the next message. It allocates nothing when one is queued. Only
// one goroutine may be in Next. The first message of a Subscribe is its
// response, of Kind Response, and not an item.
func (s *stream) Next(ctx context.Context) (wire.Message, error) {
	if c := s.current; c != nil && s.pos < len(c.msgs) && !s.dropped.Load() {
		s.pos++
		return c.msgs[s.pos-1], nil
	}
	return s.refill(ctx)
}

// Queued returns further messages that can be had without the lock, and removes them. They are
// valid until the next call of Next.
func (s *stream) Queued() []wire.Message {
	c := s.current
	if c == nil || s.dropped.Load() {
		return nil
	}
	rest := c.msgs[s.pos:]
	s.pos = len(c.msgs)
	return rest
}

// Waiting reports whether Next would return at once, with a message or because the stream itself
// has ended.
func (s *stream) Waiting() bool {
	if c := s.current; c != nil && s.pos < len(c.msgs) {
		return true
	}
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.first != nil && (s.ended || s.due()) || s.ended && !s.cut
}

// Severed reports that the stream ended because the connection did, before its own end came.
func (s *stream) Severed() bool {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.cut
}

// due reports whether the consumer should be woken for what is queued: there is much, or no further
// message can be read at once. If it were woken for each message, reader and consumer would contend
// for the lock.
func (s *stream) due() bool { return !s.dirty || s.size >= wakeBytes }

// refill waits for the next chunk and takes it. Messages that were queued before the stream ended
// can be read even after ctx has ended; those of a live stream cannot, so that a stream that never
// pauses can be left.
func (s *stream) refill(ctx context.Context) (wire.Message, error) {
	p := s.p
	for {
		p.mu.Lock()
		s.recycle(s.current)
		s.current, s.pos = nil, 0
		if s.lost > 0 && s.first != nil {
			gap := wire.Message{Kind: wire.Item, Event: &wire.Event{Kind: wire.Gap, Missed: s.lost}}
			s.lost = 0
			p.mu.Unlock()
			return gap, nil
		}
		if s.ended || ctx.Err() == nil && s.due() {
			s.current = s.take()
		}
		if s.current != nil {
			s.pos = 1
			p.resumeReadingLocked(s)
			p.mu.Unlock()
			return s.current.msgs[0], nil
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

// firstItemLocked treats the answer m of s as the first item of what the user waits for: of s
// itself, or of the watches that belong to s.
func (p *Peer) firstItemLocked(s *stream, m *wire.Message, shown bool) {
	item := *m
	item.Kind, item.ID, item.Final = wire.Item, nil, false
	if shown {
		p.deliverLocked(s, &item)
	}
	for _, w := range slices.Clone(p.calls.watches) {
		if s.op.Beside != "" && w.op.Beside == s.op.Beside {
			p.deliverLocked(w, &item)
		}
	}
}

// Cancel asks the far side to end the stream and forgets it. Queued messages are dropped; from then
// on Next returns io.EOF. ctx bounds the wait for the answer, and before that for the response to a
// Subscribe that has not come yet, since it names the stream that has to be ended.
func (s *stream) Cancel(ctx context.Context) error {
	p := s.p
	p.mu.Lock()
	if s.ended {
		p.mu.Unlock()
		return nil
	}
	s.dropped.Store(true)
	goodbye := p.leaveStreamLocked(s, io.EOF, true)
	if s.op.Kind == dialect.Subscribe && s.id != "" && p.calls.abandoned[s.id] == s {
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
	p.forgetLocked(goodbye, io.EOF)
	p.calls.abandon(goodbye)
	return err
}

// Finish makes a watch accept nothing more: see dialect.Finisher.
func (s *stream) Finish(context.Context) error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.forgetLocked(s, io.EOF)
	return nil
}

// leaveStreamLocked ends s with err on our side and asks the far side to end it there. If that
// request has an answer for which somebody waits, it returns its call.
func (p *Peer) leaveStreamLocked(s *stream, err error, await bool) *stream {
	unanswered := s.waiting
	p.forgetLocked(s, err)
	switch {
	case s.isWatch():
		return nil
	case s.stop != nil: // ending the exchange ends the call
		if p.can.SendsCancel && unanswered {
			p.sayLocked(dialect.Op{Kind: dialect.Cancel, Of: &s.op, OfID: wire.ID(s.id)}, false)
		}
		s.stop()
		return nil
	case unanswered && s.isLoose():
		return nil
	case unanswered:
		p.calls.abandon(s)
		p.sayLocked(dialect.Op{Kind: dialect.Cancel, Of: &s.op, OfID: wire.ID(s.id)}, false)
		return nil
	}
	op := dialect.Op{Kind: dialect.Unsubscribe, Of: &s.op, OfID: wire.ID(s.id), Unsubscribe: s.op.Unsubscribe}
	if s.named {
		op.Stream = wire.ID(s.token)
	}
	if bye, ok := p.sayLocked(op, await); ok {
		return bye
	}
	op.Kind = dialect.Cancel
	bye, _ := p.sayLocked(op, await)
	return bye
}

// sayLocked sends op if the dialect has a message for it and the connection can carry it. It
// returns the call that gets the answer, if there is one and somebody waits for it. It does not
// wait for room in the outbox: there is at most one such message for each call.
func (p *Peer) sayLocked(op dialect.Op, await bool) (*stream, bool) {
	if p.state != open {
		return nil, true
	}
	msg, err := p.codec.Encode(op)
	if err != nil {
		return nil, false
	}
	if len(msg.ID) == 0 {
		p.sendLocked(outgoing{msg: msg.Raw})
		return nil, true
	}
	s := newStream(p, op)
	if !await {
		s.id = string(msg.ID)
		p.calls.abandon(s)
		p.sendLocked(outgoing{msg: msg.Raw})
		return nil, true
	}
	s.oneAnswer = true
	p.registerLocked(s, msg)
	p.sendLocked(outgoing{msg: msg.Raw, call: s})
	return s, true
}

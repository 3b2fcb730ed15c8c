package peer

import (
	"context"
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/early"
	"rpcx/wire/peer/ending"
	"rpcx/wire/peer/mailbox"
)

// A stream is one local operation and its responses. The tables of calls contain it from before its message is sent
// until its final message, its failure, or Cancel.
type stream struct {
	p   *Peer
	box mailbox.Box // messages for the consumer

	op        dialect.Op
	id        string        // the request's id, or ""
	key       string        // the key of id in the tables of calls
	token     string        // the token of the stream that the response opened; valid only if named is set
	named     bool          // whether token is valid
	follows   bool          // whether this is a watch of the stream with this token, which has no request
	oneAnswer bool          // its first response is its only one (Encode returned Final)
	waiting   bool          // it is waiting for its first response
	streamed  bool          // an item has arrived
	batch     *rawBatch     // its batch, or nil
	late      chan struct{} // closed when the response arrives that Cancel waits for; may be nil
	exchange  *exchange     // its exchange; nil if the connection carries messages in both directions

	restore func(m wire.Message) *wire.Message // puts the user's own id back into a response; nil if the id was not changed

	repeats  bool // a Raw message without a consumer, such as a heartbeat, which may have the id of an earlier one
	overfull bool // whether its queue is too long
	stuck    bool // whether the reader has waited for the consumer, which has taken no message since then
	cut      bool // whether the stream ended because the connection ended
}

// An exchange is the exchange of a call on a wire.Exchanger.
type exchange struct {
	stop      context.CancelFunc // cancels the exchange; nil if the exchange belongs to no call
	answers   bool               // whether the exchange carries a response and not a call
	early     early.Items        // like calls.early, but for this exchange
	optional  bool               // whether the call may end without a response
	malformed string             // describes a malformed message in the exchange
	over      bool               // whether the exchange has ended, and further items arrive elsewhere
	session   int                // the value of exchangeState.lost when the exchange began
}

func newStream(p *Peer, op dialect.Op) *stream {
	s := &stream{p: p, op: op}
	s.box.Init()
	if p.exchanger != nil {
		s.exchange = &exchange{}
	}
	return s
}

// ended reports whether the stream accepts no more messages.
func (s *stream) ended() bool { return s.box.Err() != nil }

// fault returns the failure of s when the connection ended with err.
func (s *stream) fault(err error) *wire.Fault {
	when := "in the middle of the stream of " + ending.Quoted(s.op.Method)
	switch {
	case s.op.Kind == dialect.Watch:
		when = ""
	case s.waiting:
		when = "before " + ending.Quoted(s.op.Method) + " was answered"
	}
	return ending.Fault(err, s.op.Method, when)
}

// Next returns the next message. It does not allocate if a message is queued. Calls of Next must not be concurrent. The
// first message of a Subscribe is the response, which has Kind Response.
func (s *stream) Next(ctx context.Context) (wire.Message, error) {
	if m := s.box.Next(); m != nil {
		return *m, nil
	}
	return s.refill(ctx)
}

// Queued removes and returns the messages that can be taken without the lock. They are valid until the next call of
// Next.
func (s *stream) Queued() []wire.Message { return s.box.Queued() }

// Waiting reports whether Next would return at once.
func (s *stream) Waiting() bool {
	if s.box.Peek() {
		return true
	}
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.box.Ready() || s.ended() && !s.cut
}

// Severed reports whether the stream ended because its connection ended.
func (s *stream) Severed() bool {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.cut
}

// refill waits until messages are queued and takes the first one. Once ctx has ended, it takes messages only from a
// stream that has ended.
func (s *stream) refill(ctx context.Context) (wire.Message, error) {
	for {
		s.p.mu.Lock()
		m, err := s.box.Take(ctx.Err() == nil)
		if m != nil {
			s.p.resumeReadingLocked(s)
		}
		s.p.mu.Unlock()
		switch {
		case m != nil:
			return *m, nil
		case err != nil:
			return wire.Message{}, err
		case ctx.Err() != nil:
			return wire.Message{}, ctx.Err()
		}
		select {
		case <-s.box.C():
		case <-ctx.Done():
		}
	}
}

// Cancel asks the peer to end the stream, and forgets it. It drops the queued messages, and Next then returns io.EOF.
// ctx bounds the wait for the response. For a pending Subscribe it also bounds the wait for the response that names the
// stream.
func (s *stream) Cancel(ctx context.Context) error {
	p := s.p
	p.mu.Lock()
	if s.ended() {
		p.mu.Unlock()
		return nil
	}
	s.box.Drop()
	goodbye := p.leaveStreamLocked(s, io.EOF, true)
	if s.op.Kind == dialect.Subscribe && s.id != "" && p.calls.abandoned[s.key] == s {
		s.late = make(chan struct{})
	}
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

// Finish makes a watch accept no more messages (see dialect.Finisher).
func (s *stream) Finish(context.Context) error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.forgetLocked(s, io.EOF)
	return nil
}

// leaveStreamLocked ends s locally with err, and asks the peer to end the stream. It returns the call that asks, if the
// caller must wait for its response. The caller holds the lock.
func (p *Peer) leaveStreamLocked(s *stream, err error, await bool) *stream {
	unanswered := s.waiting
	p.forgetLocked(s, err)
	op := dialect.Op{Kind: dialect.Cancel, Of: &s.op, OfID: wire.ID(s.id)}
	switch {
	case s.isWatch():
		return nil
	case s.exchange != nil && s.exchange.stop != nil && !s.exchange.over: // ending the exchange ends the call
		if p.can.SendsCancel && (unanswered || s.op.Kind != dialect.Subscribe) {
			p.sendControlLocked(op, false)
		}
		s.exchange.stop()
		return nil
	case unanswered && s.isLoose():
		return nil
	case unanswered:
		p.calls.abandon(s)
		p.sendControlLocked(op, false)
		return nil
	}
	bye, ok := p.unsubscribeLocked(s, await)
	if !ok {
		bye, _ = p.sendControlLocked(op, await)
	}
	return bye
}

// unsubscribeLocked asks the peer to end s, which has ended locally. In some dialects this message is possible only after
// the first item, because the response alone does not show whether it opened a stream. In that case, the first item ends s
// (see calls.leftOpen). The caller holds the lock.
func (p *Peer) unsubscribeLocked(s *stream, await bool) (*stream, bool) {
	op := dialect.Op{Kind: dialect.Unsubscribe, Of: &s.op, OfID: wire.ID(s.id), Unsubscribe: s.op.Unsubscribe, Lasting: s.streamed}
	if s.named {
		op.Stream = wire.ID(s.token)
	}
	bye, ok := p.sendControlLocked(op, await)
	if !ok && !s.streamed && p.calls.endedStreams.Has(op.Stream) {
		putBounded(p.calls.leftOpen, s.token, s)
	}
	return bye, ok
}

// sendControlLocked sends op if the dialect has a message for it and the connection can still carry that message. With
// await, it returns the call that waits for the response. It does not wait for room in the outbox, because each call
// sends at most one such message. The caller holds the lock.
func (p *Peer) sendControlLocked(op dialect.Op, await bool) (*stream, bool) {
	if p.end.State != ending.Open {
		return nil, true
	}
	msg, err := p.codec.Encode(op)
	if err != nil {
		return nil, false
	}
	o := outgoing{msg: msg.Raw}
	if len(msg.ID) > 0 {
		s := newStream(p, op)
		if await {
			s.oneAnswer, o.call = true, s
			p.registerLocked(s, msg)
		} else {
			s.setID(msg.ID)
			p.calls.abandon(s)
		}
	}
	p.sendLocked(o)
	return o.call, true
}

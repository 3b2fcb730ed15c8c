package peer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"rpcx/wire"
	"rpcx/wire/peer/ending"
)

// exchangeState is the part of a Peer that handles the exchanges of a wire.Exchanger.
//
// Its rules:
//   - Exchanges run concurrently, but only one message is routed at a time (recv).
//   - At most maxPosts responses are posted at once (posts).
//   - A peer that has ended the HTTP session has not processed the message. One handshake serves all calls that detect the
//     end of the session (renewal, renewed).
//   - While the session's event stream is open (reads), a stream may outlive its own exchange.
type exchangeState struct {
	ctx     context.Context // ends after the contexts of the handlers, because they send their responses with it
	cancel  context.CancelFunc
	posts   chan struct{} // a semaphore
	recv    sync.Mutex
	renewal chan struct{} // a semaphore of one

	// The Peer's lock guards these fields.
	lost     int // how often the peer has ended the session
	renewed  int // how often the session has been renewed
	standing int // how many event streams have been started
	reads    bool
}

// exchange sends one message as an exchange and receives its responses.
func (p *Peer) exchange(o outgoing) {
	defer wire.Guard()
	ctx, cancel := context.WithCancel(cmp.Or(o.ctx, p.exchanges.ctx))
	defer cancel()
	defer context.AfterFunc(p.exchanges.ctx, cancel)()
	in, answers := o.call, o.answers()
	if answers {
		defer p.posted()
		select {
		case p.exchanges.posts <- struct{}{}:
			defer func() { <-p.exchanges.posts }()
		case <-ctx.Done():
			return
		}
	}
	if in == nil {
		in = &stream{p: p, batch: o.from, exchange: &exchange{answers: answers}}
		in.box.End(io.EOF) // the messages do not belong to a single call
	}
	sent := sync.OnceFunc(func() { p.tap(wire.Send, o.msg) })
	err := p.exchangeRenewing(wire.WithSent(ctx, sent), &o, func(msg []byte) {
		sent()
		if answers && p.crowded() {
			return // the message is no longer needed and would only add to the load
		}
		p.tap(wire.Recv, msg)
		if err := p.receive(msg, in); err != nil {
			p.failCall(in, err)
		}
	})
	if err == nil {
		sent()
	}
	switch {
	case o.done != nil:
		o.done <- err
	case o.call != nil:
		left := ctx.Err() != nil
		if stop := o.call.exchange.stop; stop != nil {
			stop()
		}
		p.exchanged(o.call, err, left)
	case err != nil && ctx.Err() == nil:
		p.note(Note{Kind: NoteUnsent, Text: "a response was not sent: " + err.Error()})
	}
}

// posted records that a response's exchange has ended.
func (p *Peer) posted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outbox.posting--
	p.outbox.room.Pass()
	p.change.Pass()
}

// answers reports whether o is a response. Such a message has no caller that waits for it.
func (o *outgoing) answers() bool { return o.call == nil && o.done == nil }

// crowded reports whether too many responses are being posted, or requests are queued.
func (p *Peer) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crowdedLocked()
}

func (p *Peer) crowdedLocked() bool {
	return p.outbox.posting > maxPosts || p.requests.Queued()
}

// exchanged handles the end of a call's exchange. If the call has no response, exchanged fails it. left is true if the
// exchange's context has ended. In that case, exchanged asks the peer to cancel the call, because a later Cancel has no
// effect.
func (p *Peer) exchanged(s *stream, err error, left bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.ended() {
		return
	}
	var f *wire.Fault
	switch {
	case err != nil && p.exchanges.ctx.Err() != nil: // cancelled by Close
		err = s.fault(ending.ErrOurs)
	case left && err != nil:
		p.leaveStreamLocked(s, err, false)
		return
	case errors.As(err, &f):
		err = f.WithMethod(s.op.Method)
	case err != nil:
	case s.exchange.optional:
		err = io.EOF
	case !s.waiting && s.named && p.exchanges.reads && s.exchange.session == p.exchanges.lost:
		s.exchange.over = true // the session's event stream carries its items from now on
		return
	default:
		err = p.unansweredLocked(s)
	}
	p.forgetLocked(s, err)
}

// unansweredLocked returns why a call ends whose exchange has ended without an error. The caller holds the lock.
func (p *Peer) unansweredLocked(s *stream) error {
	f := &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the HTTP response does not answer the request"}
	switch {
	case s.waiting && s.exchange.malformed != "":
		f.Message += ": " + s.exchange.malformed
	case s.waiting:
		f.Err = wire.ErrUnanswered
	case s.exchange.session < p.exchanges.lost:
		f.Kind, f.Message = wire.Closed, sessionEnded
	default:
		f.Message, f.Err = "the stream ended with neither done nor error", wire.ErrResponseEnded
	}
	return f
}

type handshakeKey struct{}

// exchangeRenewing makes an exchange. If the peer has ended the session, exchangeRenewing repeats the handshake and the
// exchange. The state and the streams of the old session are lost.
func (p *Peer) exchangeRenewing(ctx context.Context, o *outgoing, recv func([]byte)) error {
	count := p.begin(o)
	err := p.o.Resend(ctx, func() error { return p.exchanger.Exchange(ctx, o.msg, recv) })
	if !errors.Is(err, wire.ErrSessionLost) || o.answers() || ctx.Value(handshakeKey{}) != nil {
		return err
	}
	if !p.renewSession(ctx, count, o.call) {
		return err
	}
	p.begin(o)
	return p.exchanger.Exchange(ctx, o.msg, recv)
}

const sessionEnded = "the peer ended the session"

// begin notes the session of an exchange that begins, and returns how often the session has been renewed.
func (p *Peer) begin(o *outgoing) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.call != nil {
		o.call.exchange.session = p.exchanges.lost
	}
	return p.exchanges.renewed
}

// renewSession repeats the handshake for the call s, unless another call has done so since the renewal with number
// count. It reports whether the session can be used again.
func (p *Peer) renewSession(ctx context.Context, count int, s *stream) bool {
	select {
	case p.exchanges.renewal <- struct{}{}:
		defer func() { <-p.exchanges.renewal }()
	case <-ctx.Done():
		return false
	}
	p.mu.Lock()
	if p.exchanges.renewed > count {
		p.mu.Unlock()
		return true
	}
	p.exchanges.lost++
	p.endStreamsLocked(s, sessionEnded)
	p.mu.Unlock()
	if p.Handshake(context.WithValue(ctx, handshakeKey{}, true)) != nil {
		return false
	}
	p.note(Note{Kind: NoteUnsent, Text: "the peer ended the session: rpcx began a new one, without the state of the old one"})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exchanges.renewed++
	return true
}

// A renewableSession is the HTTP session of a Peer. It records whether the session's event stream, which carries
// messages outside of exchanges, is open.
type renewableSession struct {
	wire.HTTPSession
	p *Peer
	x *exchangeState
}

// ReadEvents opens the session's event stream. While it is open, streams can outlive the exchange that opened them.
func (s renewableSession) ReadEvents(over func()) {
	s.p.mu.Lock()
	s.x.standing++
	which := s.x.standing
	s.x.reads = true
	s.p.mu.Unlock()
	s.HTTPSession.ReadEvents(func() {
		s.p.mu.Lock()
		if which == s.x.standing { // not for the stream of an earlier session
			s.x.reads = false
			s.p.endStreamsLocked(nil, "the peer's event stream ended")
		}
		s.p.mu.Unlock()
		over()
	})
}

// endStreamsLocked ends all streams that have outlived their exchange, except s. The caller holds the lock.
func (p *Peer) endStreamsLocked(s *stream, why string) {
	for _, other := range p.calls.byToken {
		if other != s && other.exchange != nil && other.exchange.over {
			p.forgetLocked(other, wire.NewFault(wire.Closed, why, nil))
		}
	}
}

package peer

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// exchange sends one message and receives what answers it.
func (p *Peer) exchange(o outgoing) {
	defer wire.Guard()
	ctx, cancel := p.exchangeContext(o.ctx)
	defer cancel()
	in, answers := o.call, o.answers()
	if answers {
		defer p.posted()
		select {
		case p.posts <- struct{}{}:
			defer func() { <-p.posts }()
		case <-ctx.Done():
			return
		}
	}
	if in == nil {
		in = &stream{p: p, request: request{batch: o.from}, exchanged: exchanged{answers: answers}, streamEnd: streamEnd{ended: true}} // what comes back belongs to no one call
	}
	sent := sync.OnceFunc(func() { p.tap(wire.Send, o.msg) })
	err := p.exchangeRenewing(wire.WithSent(ctx, sent), &o, func(msg []byte) {
		sent()
		if answers && p.crowded() {
			return // nobody asked for it, and answers to it would only add to the crowd
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
		o.call.stop()
		p.exchanged(o.call, err)
	case err != nil && ctx.Err() == nil:
		p.note(Note{Kind: NoteUnsent, Text: "an answer was not sent: " + err.Error()})
	}
}

// posted notes that an answer of ours is on its way no more.
func (p *Peer) posted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outbox.posting--
	p.outbox.room.pass()
	p.change.pass()
}

// answers reports whether o is an answer: no call of ours waits for the outcome of
// sending it.
func (o *outgoing) answers() bool { return o.call == nil && o.done == nil }

// crowded reports whether as many answers of ours are on their way, or to be made, as
// may be.
func (p *Peer) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crowdedLocked()
}

func (p *Peer) crowdedLocked() bool {
	return p.outbox.posting > maxPosts || len(p.inflight.queue) > 0
}

// exchangeContext ends with ctx, and with the peer.
func (p *Peer) exchangeContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx == nil {
		return p.xctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.xctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// exchanged ends the call whose exchange has ended, unless it was answered.
func (p *Peer) exchanged(s *stream, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.ended {
		return
	}
	var f *wire.Fault
	switch {
	case err != nil && p.xctx.Err() != nil: // it was ended because we close
		err = callFault(errOurs, s)
	case errors.As(err, &f):
		c := *f
		err = withMethod(&c, s.op.Method)
	case err != nil:
	case s.optional:
		err = io.EOF
	case !s.waiting && s.named && p.regreet.reads:
		s.outside = true // its items come on the standing event stream
		return
	case s.waiting && s.malformed != "":
		err = &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the HTTP reply held no answer, but " + s.malformed}
	case s.waiting:
		err = &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the HTTP reply held no answer"}
	default:
		err = &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the stream ended with neither done nor error"}
	}
	p.forgetLocked(s, err)
}

// Exchanges connects requests of ours with their answers where each exchange of the
// far side is a connection of its own (POSTs to our listener): the event stream of
// one carries our request, another POST brings the answer. The connections of a
// listener share one.
//
// Its requests have ids that cannot be guessed: only the peer that was asked can
// answer.
type Exchanges struct {
	mu     sync.Mutex
	owners map[string]*Peer // by the ids of their requests
}

// NewExchanges returns one without requests.
func NewExchanges() *Exchanges { return &Exchanges{owners: map[string]*Peer{}} }

// newID returns the id of a request of p.
func (x *Exchanges) newID(p *Peer) wire.ID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	id := wire.ID(`"` + hex.EncodeToString(b[:]) + `"`)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.owners[string(id)] = p
	return id
}

// take returns the Peer whose request has that id, once; nil if there is none.
func (x *Exchanges) take(id wire.ID) *Peer {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.owners[string(id)]
	delete(x.owners, string(id))
	return p
}

// forget removes the requests of p that were not answered.
func (x *Exchanges) forget(p *Peer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.owners, func(_ string, owner *Peer) bool { return owner == p })
}

// asksInExchange reports whether requests of ours go out inside the exchange that this
// connection is, and are answered in another.
func (p *Peer) asksInExchange() bool {
	return p.oneShot && p.o.Exchanges != nil && !p.OneAnswer()
}

// ownExchangeIDLocked gives a request of ours the id by which Exchanges finds its answer.
// A message whose id is not its member "id" cannot be sent inside an exchange.
func (p *Peer) ownExchangeIDLocked(msg wire.Message) wire.Message {
	if !p.asksInExchange() || len(msg.ID) == 0 || !bytes.Equal(scan.Get(msg.Raw, "id"), msg.ID) {
		return msg
	}
	msg.ID = p.o.Exchanges.newID(p)
	msg.Raw = scan.Splice(msg.Raw, "id", msg.ID)
	return msg
}

// passToAskerLocked hands an answer to the exchange that asked for it, if one did.
func (p *Peer) passToAskerLocked(m *wire.Message) bool {
	if !p.oneShot || p.o.Exchanges == nil || m.Kind != wire.Response {
		return false
	}
	owner := p.o.Exchanges.take(m.ID)
	if owner == nil {
		return false
	}
	raw := bytes.Clone(m.Raw)
	p.wg.Go(func() {
		defer wire.Guard()
		_ = owner.receive(raw, nil)
	})
	return true
}

// HTTPSession returns the session that the exchanges of the connection can belong to; nil
// where there is none.
func (p *Peer) HTTPSession() wire.HTTPSession {
	s, ok := p.conn.(wire.HTTPSession)
	if !ok {
		return nil
	}
	return renewableSession{s, p}
}

// A sessionRenewal begins the conversation again where the far side has ended the session that
// the exchanges were in: what was sent has not been taken.
type sessionRenewal struct {
	mu sync.Mutex // held while it is done

	// Guarded by the Peer's lock:
	count    int  // how often it was done
	standing int  // how often a standing event stream was begun
	reads    bool // there is one
}

// greetingKey marks the context of a greeting.
type greetingKey struct{}

// exchangeRenewing is Exchange, once more where the session was over: the conversation is
// greeted anew before. What the far side had kept for the old one is lost, and streams
// that were open in it have ended.
func (p *Peer) exchangeRenewing(ctx context.Context, o *outgoing, recv func([]byte)) error {
	p.mu.Lock()
	count := p.regreet.count
	p.mu.Unlock()
	err := p.exchanger.Exchange(ctx, o.msg, recv)
	if !errors.Is(err, wire.ErrSessionLost) || o.answers() || ctx.Value(greetingKey{}) != nil {
		return err
	}
	if !p.renewSession(ctx, count, o.call) {
		return err
	}
	return p.exchanger.Exchange(ctx, o.msg, recv)
}

// renewSession greets once more for s, unless somebody has since there were count such
// greetings. It reports whether there is a session again.
func (p *Peer) renewSession(ctx context.Context, count int, s *stream) bool {
	p.regreet.mu.Lock()
	defer p.regreet.mu.Unlock()
	p.mu.Lock()
	if p.regreet.count > count {
		p.mu.Unlock()
		return true
	}
	p.endStreamsLocked(s, "the peer has ended the session")
	p.unlockAndTell()
	if p.Greet(context.WithValue(ctx, greetingKey{}, true)) != nil {
		return false
	}
	p.note(Note{Kind: NoteUnsent, Text: "the peer has ended the session: it was greeted anew, and knows nothing of what was said before"})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.regreet.count++
	return true
}

// renewableSession is the session of a Peer, which knows whether the far side can say something
// outside of our exchanges.
type renewableSession struct {
	wire.HTTPSession
	p *Peer
}

// ReadEvents has streams go on whose items come outside of their exchange, until over.
func (s renewableSession) ReadEvents(over func()) {
	p := s.p
	p.mu.Lock()
	p.regreet.standing++
	which := p.regreet.standing
	p.regreet.reads = true
	p.mu.Unlock()
	s.HTTPSession.ReadEvents(func() {
		p.mu.Lock()
		if which == p.regreet.standing { // and not that of a session before
			p.regreet.reads = false
			p.endStreamsLocked(nil, "the event stream of the peer has ended")
		}
		p.unlockAndTell()
		over()
	})
}

// endStreamsLocked ends the streams whose items come outside of their exchange, but for s.
func (p *Peer) endStreamsLocked(s *stream, why string) {
	for _, other := range p.calls.byToken {
		if other != s && other.outside {
			p.forgetLocked(other, wire.NewFault(wire.Closed, why, nil))
		}
	}
}

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

// exchange sends one message as an exchange and receives its answers.
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
		in = &stream{p: p, batch: o.from, exchange: &exchange{answers: answers}}
		in.box.End(io.EOF) // what comes back belongs to no one call
	}
	sent := sync.OnceFunc(func() { p.tap(wire.Send, o.msg) })
	err := p.exchangeRenewing(wire.WithSent(ctx, sent), &o, func(msg []byte) {
		sent()
		if answers && p.crowded() {
			return // it is not wanted, and answers to it would only add to the load
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
		if stop := o.call.exchange.stop; stop != nil {
			stop()
		}
		p.exchanged(o.call, err)
	case err != nil && ctx.Err() == nil:
		p.note(Note{Kind: NoteUnsent, Text: "an answer was not sent: " + err.Error()})
	}
}

// posted notes that the exchange of an answer of ours is over.
func (p *Peer) posted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outbox.posting--
	p.outbox.room.pass()
	p.change.pass()
}

// answers reports whether o is an answer of ours, so that no call waits for the result of sending
// it.
func (o *outgoing) answers() bool { return o.call == nil && o.done == nil }

// crowded reports whether as many answers of ours are being posted, or made, as are allowed.
func (p *Peer) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crowdedLocked()
}

func (p *Peer) crowdedLocked() bool {
	return p.outbox.posting > maxPosts || p.requests.Queued()
}

// exchangeContext returns a context that ends with ctx, and when the peer is closed.
func (p *Peer) exchangeContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx == nil {
		return p.xctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.xctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// exchanged is called when the exchange of a call has ended, and fails the call unless it was
// answered.
func (p *Peer) exchanged(s *stream, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.ended() {
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
	case s.exchange.optional:
		err = io.EOF
	case !s.waiting && s.named && p.regreet.reads:
		s.exchange.over = true // its items come on the standing event stream
		return
	case s.waiting && s.exchange.malformed != "":
		err = &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the HTTP reply held no answer, but " + s.exchange.malformed}
	case s.waiting:
		err = &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the HTTP reply held no answer"}
	default:
		err = &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the stream ended with neither done nor error"}
	}
	p.forgetLocked(s, err)
}

// Exchanges finds the answers to requests of ours when each exchange with the peer is a connection
// of its own, as POSTs to our listener are: our request is sent in the event stream of one
// exchange, and the answer comes in another POST. All connections of a listener share one
// Exchanges.
//
// The requests have ids that cannot be guessed, so that only the peer that was asked can answer.
type Exchanges struct {
	mu     sync.Mutex
	owners map[string]*Peer // by the ids of their requests
}

// NewExchanges returns an Exchanges without requests.
func NewExchanges() *Exchanges { return &Exchanges{owners: map[string]*Peer{}} }

// newID returns a new id for a request of p.
func (x *Exchanges) newID(p *Peer) wire.ID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	id := wire.ID(`"` + hex.EncodeToString(b[:]) + `"`)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.owners[string(id)] = p
	return id
}

// take returns the Peer whose request has that id and forgets the request; nil if there is none.
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

// asksInExchange reports whether the connection is one exchange, in which requests of ours are sent
// but not answered: another exchange brings the answer.
func (p *Peer) asksInExchange() bool {
	return p.oneShot && p.o.Exchanges != nil && !p.about.OneAnswer
}

// ownExchangeIDLocked gives a request of ours the id under which Exchanges finds its answer. The
// request must have its id in the member "id".
func (p *Peer) ownExchangeIDLocked(msg wire.Message) wire.Message {
	if !p.asksInExchange() || len(msg.ID) == 0 || !bytes.Equal(scan.Get(msg.Raw, "id"), msg.ID) {
		return msg
	}
	msg.ID = p.o.Exchanges.newID(p)
	msg.Raw = scan.Splice(msg.Raw, "id", msg.ID)
	return msg
}

// passToAskerLocked passes an answer to the Peer whose exchange carried the request, if there is
// one.
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

// A sessionRenewal is the state of greeting the peer again after it has ended the HTTP session of
// our exchanges: such a peer has not accepted the message that was sent.
type sessionRenewal struct {
	mu sync.Mutex // held during a renewal

	// Guarded by the Peer's lock:
	count    int  // how often the session was renewed
	standing int  // how often a standing event stream was begun
	reads    bool // an event stream is being read
}

// greetingKey marks the context of a greeting.
type greetingKey struct{}

// exchangeRenewing makes an exchange. If the peer has ended the session, it greets the peer again
// and makes the exchange once more. The state that the peer kept for the old session is lost, and
// streams that were open in it have ended.
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

// renewSession greets the peer again for the call s, unless another call has done so since the
// count-th renewal. It reports whether there is a session again.
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

// A renewableSession is the HTTP session of a Peer. It notes whether the event stream for messages
// outside of exchanges is open.
type renewableSession struct {
	wire.HTTPSession
	p *Peer
}

// ReadEvents opens the event stream for messages outside of exchanges. As long as it is open,
// streams may go on after their own exchange has ended.
func (s renewableSession) ReadEvents(over func()) {
	p := s.p
	p.mu.Lock()
	p.regreet.standing++
	which := p.regreet.standing
	p.regreet.reads = true
	p.mu.Unlock()
	s.HTTPSession.ReadEvents(func() {
		p.mu.Lock()
		if which == p.regreet.standing { // not the stream of an earlier session
			p.regreet.reads = false
			p.endStreamsLocked(nil, "the event stream of the peer has ended")
		}
		p.unlockAndTell()
		over()
	})
}

// endStreamsLocked ends all streams, except s, that go on outside of their exchange.
func (p *Peer) endStreamsLocked(s *stream, why string) {
	for _, other := range p.calls.byToken {
		if other != s && other.exchange != nil && other.exchange.over {
			p.forgetLocked(other, wire.NewFault(wire.Closed, why, nil))
		}
	}
}

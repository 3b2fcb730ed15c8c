package peer

import (
	"context"
	"errors"
	"sync"

	"rpcx/wire"
)

// A regreeting begins the conversation again where the far side has ended the session that
// the exchanges were in: what was sent has not been taken.
type regreeting struct {
	mu sync.Mutex // held while it is done

	// Guarded by the Peer's lock:
	count    int  // how often it was done
	standing int  // how often a standing event stream was begun
	reads    bool // there is one
}

// greetingKey marks the context of a greeting.
type greetingKey struct{}

// exchangeAnew is Exchange, once more where the session was over: the conversation is
// greeted anew before. What the far side had kept for the old one is lost, and streams
// that were open in it have ended.
func (p *Peer) exchangeAnew(ctx context.Context, o *outgoing, recv func([]byte)) error {
	p.mu.Lock()
	count := p.regreet.count
	p.mu.Unlock()
	err := p.exchanger.Exchange(ctx, o.msg, recv)
	if !errors.Is(err, wire.ErrSessionLost) || o.answers() || ctx.Value(greetingKey{}) != nil {
		return err
	}
	if !p.greetAnew(ctx, count, o.call) {
		return err
	}
	return p.exchanger.Exchange(ctx, o.msg, recv)
}

// greetAnew greets once more for s, unless somebody has since there were count such
// greetings. It reports whether there is a session again.
func (p *Peer) greetAnew(ctx context.Context, count int, s *stream) bool {
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

// standing is the session of a Peer, which knows whether the far side can say something
// outside of our exchanges.
type standing struct {
	wire.HTTPSession
	p *Peer
}

// ReadEvents has streams go on whose items come outside of their exchange, until over.
func (s standing) ReadEvents(over func()) {
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

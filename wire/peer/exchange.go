package peer

import (
	"context"
	"errors"

	"rpcx/wire"
)

// exchange sends one message and receives what answers it.
func (p *Peer) exchange(o outgoing) {
	ctx, cancel := p.exchangeContext(o.ctx)
	defer cancel()
	in, answers := o.call, o.answers()
	if in == nil {
		in = &stream{p: p, request: request{batch: o.from}, exchanged: exchanged{answers: answers}, fate: fate{ended: true}} // what comes back belongs to no one call
	}
	if p.o.Tap != nil {
		p.o.Tap(wire.Send, o.msg)
	}
	err := p.exchanger.Exchange(ctx, o.msg, func(msg []byte) {
		if answers && p.crowded() {
			return // nobody asked for it, and answers to it would only add to the crowd
		}
		if p.o.Tap != nil {
			p.o.Tap(wire.Recv, msg)
		}
		if err := p.receive(msg, in); err != nil {
			p.failCall(in, err)
		}
	})
	switch {
	case o.done != nil:
		o.done <- err
	case o.call != nil:
		o.call.stop()
		p.exchanged(o.call, err)
	case err != nil && ctx.Err() == nil:
		p.note(Note{Kind: NoteUnsent, Text: "an answer was not sent: " + err.Error()})
	}
	if answers {
		p.mu.Lock()
		p.outbox.posting--
		p.change.pass()
		p.mu.Unlock()
	}
}

// answers reports whether nobody of ours waits for what comes of sending o.
func (o *outgoing) answers() bool { return o.call == nil && o.done == nil }

// crowded reports whether as many answers of ours are being posted as may be.
func (p *Peer) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outbox.posting > postsMost
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
	case s.waiting && s.malformed != "":
		err = &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the HTTP reply held no answer, but " + s.malformed}
	case s.waiting:
		err = &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the HTTP reply held no answer"}
	default:
		err = &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: "the stream ended with neither done nor error"}
	}
	p.forgetLocked(s, err)
}

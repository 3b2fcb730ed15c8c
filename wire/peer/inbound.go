package peer

import (
	"context"
	"errors"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

const (
	floodBytes = 16 << 20  // bytes of unsent answers at which the reader stops
	maxPosts   = 64        // answers that may be posted at once; the reader stops when more wait
	heldBytes  = 128 << 20 // bytes of requests in flight at which further ones are refused, as with MaxInbound
	codeCancel = -32800    // the code with which a cancelled request is answered
)

// inbound is one request or notification of the far side.
type inbound struct {
	dialect.Inbound
	ctx       context.Context
	cancel    context.CancelFunc
	group     *group // of the batch that it came in; nil: none
	index     int    // its place in the batch
	answered  bool   // its first answer is out
	closed    bool   // Handle has returned: nothing more may be emitted
	cancelled bool   // by the far side
	stream    bool   // it has been answered, and more answers follow
	begun     bool   // its handler was allowed to begin although the Budget is exceeded
}

// requestLocked dispatches a request.
func (p *Peer) requestLocked(m *wire.Message, g *group) {
	if p.state >= closing {
		return
	}
	in := &inbound{group: g}
	in.Msg, in.Order = m.Clone(), p.inflight.arrive()
	if g != nil {
		in.index = g.owe()
	}
	p.inflight.unanswered++
	full := p.inflight.full(len(m.Raw), p.o.MaxInbound)
	if !full && p.o.Incoming != nil && p.takesLocked(in) {
		return
	}
	switch {
	case full && p.waitsLocked(g) && p.inflight.later(in):
	case full:
		if !p.inflight.toldBusy { // told once: whoever floods us must not flood our user
			p.inflight.toldBusy = true
			p.noteLocked(Note{Kind: NoteBusy, Method: in.Msg.Method, Text: "too many requests are in flight: some were refused"})
		}
		p.refuseLocked(in, wire.NewError(wire.CodeServer, "busy").WithData(map[string]bool{"retryable": true}))
	case p.handler.Handle == nil:
		p.noteLocked(Note{Kind: NoteUnhandledRequest, Method: in.Msg.Method, Text: "nothing answers " + quoted(in.Msg.Method)})
		p.refuseLocked(in, noMethod(in.Msg.Method))
	default:
		p.startLocked(in)
	}
}

// waitsLocked reports whether a request over the limit may wait: it came in an array with others,
// or is the last before the reader stops. Exchanges are read concurrently, so none of theirs may
// wait.
func (p *Peer) waitsLocked(g *group) bool {
	return p.o.Incoming == nil && (g != nil || p.exchanger == nil && p.calls.waiting == 0 && p.inflight.streams == 0)
}

// startLocked runs the handler of in.
func (p *Peer) startLocked(in *inbound) {
	in.ctx, in.cancel = context.WithCancel(dialect.WithFlowControl(p.ctx, flowControl{p, in}))
	in.Emit = func(ev wire.Event) error { return p.emit(in, ev) }
	p.inflight.start(in)
	if in.cancelled {
		in.cancel()
	}
	p.wg.Go(func() { p.serve(in) })
}

// finishLocked frees the place of in, and starts the next request that waits for one.
func (p *Peer) finishLocked(in *inbound) {
	p.inflight.finish(in)
	for p.state < closing {
		next := p.inflight.next(p.o.MaxInbound)
		if next == nil {
			break
		}
		if p.handler.Handle == nil {
			p.refuseLocked(next, noMethod(next.Msg.Method))
			continue
		}
		p.startLocked(next)
	}
	p.change.pass()
}

// refuseLocked answers in with e at once.
func (p *Peer) refuseLocked(in *inbound, e *wire.Error) {
	_ = p.replyLocked(in, failure(e))
	p.owesNothingLocked(in)
}

// takesLocked offers in to Incoming and reports whether that took it; it may be answered meanwhile.
func (p *Peer) takesLocked(in *inbound) bool {
	p.inflight.take(in)
	if p.incomingLocked(&in.Msg) {
		return true
	}
	p.untakeLocked(in)
	return false
}

func (p *Peer) untakeLocked(in *inbound) {
	if !p.inflight.untake(in) {
		return
	}
	p.change.pass()
}

// incomingLocked shows m to Incoming, without the lock.
func (p *Peer) incomingLocked(m *wire.Message) bool {
	if p.o.Incoming == nil {
		return false
	}
	c := m.Clone()
	p.wakeDirtyLocked() // because Incoming may block
	p.unlockAndTell()
	defer p.mu.Lock()
	return p.o.Incoming(c)
}

// answerToLocked passes an answer to a Raw operation to take, else to Incoming, without the lock.
func (p *Peer) answerToLocked(take func(wire.Message), m *wire.Message) {
	if take == nil {
		p.incomingLocked(m)
		return
	}
	c := m.Clone()
	p.wakeDirtyLocked()
	p.unlockAndTell()
	defer p.mu.Lock()
	take(c)
}

// serve runs the handler of one request and answers with what it returns.
func (p *Peer) serve(in *inbound) {
	defer wire.Guard()
	ev, returned := wire.Event{}, false
	defer func() { // also if the handler ends its goroutine
		if !returned {
			ev = internalError()
		}
		p.served(in, &ev)
	}()
	if err := (flowControl{p, in}).Await(); err != nil {
		ev = failure(wire.AsError(err))
	} else {
		ev = p.run(in)
	}
	returned = true
}

// served sends the last answer of in and frees its place. It lets go of the data that the answer
// was made from first: if the peer does not read, the place may stay taken as long as the answer
// waits.
func (p *Peer) served(in *inbound, ev *wire.Event) {
	defer in.cancel()
	p.mu.Lock()
	defer p.unlockAndTell()
	in.closed = true
	if !in.Answered {
		_ = p.replyLocked(in, *ev)
	}
	*ev = wire.Event{}
	p.owesNothingLocked(in)
	// The place is freed only when the answer can be sent.
	_ = p.waitForLocked(p.ctx, &p.outbox.room, func() bool {
		return !p.outbox.full() && p.outbox.posting <= maxPosts || p.state >= closing
	})
	p.finishLocked(in)
}

// run calls the handler. A panic becomes an internal error.
func (p *Peer) run(in *inbound) (ev wire.Event) {
	defer func() {
		if v := recover(); v != nil {
			ev = internalError()
			p.note(Note{Kind: NotePanic, Method: in.Msg.Method, Text: panicText(v)})
		}
	}()
	result, err := p.handler.Handle(in.ctx, &in.Inbound)
	if err == nil {
		return wire.Event{Kind: wire.Data, Final: true, Data: result}
	}
	e := wire.AsError(err)
	if p.wasCancelled(in) && in.ctx.Err() != nil && !isRPC(err) {
		e = wire.NewError(codeCancel, "request cancelled")
	} else if p.ctx.Err() != nil && errors.Is(err, context.Canceled) && !isRPC(err) {
		e = wire.NewError(wire.CodeInternal, "the connection is being closed")
	}
	if string(e.Code) == "-32601" && e.Raw == nil { // not for the error of a nested call, which some peer has answered
		p.note(Note{Kind: NoteUnhandledRequest, Method: in.Msg.Method, Text: "nothing answers " + quoted(in.Msg.Method)})
	}
	return failure(e)
}

func (p *Peer) wasCancelled(in *inbound) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return in.cancelled
}

// isRPC reports whether err is an error of the protocol, to be answered as it
// stands.
func isRPC(err error) bool {
	var e *wire.Error
	return errors.As(err, &e)
}

// emit sends one event of an answer.
func (p *Peer) emit(in *inbound, ev wire.Event) error {
	p.mu.Lock()
	defer p.unlockAndTell()
	if err := p.waitRoomLocked(in.ctx); err != nil {
		return err
	}
	// Items are sent after the response that names their stream.
	err := p.waitForLocked(in.ctx, &p.change, func() bool { return in.group == nil || !in.answered || in.group.sent })
	if err != nil {
		return err
	}
	switch {
	case in.closed:
		return errors.New("the request has been answered")
	case p.state == ended:
		return p.noMoreLocked(nil, nil)
	case p.sendClosed != nil && in.answered:
		return p.sendClosed
	}
	if !ev.Final && in.Msg.Kind == wire.Request {
		p.inflight.goesOn(in)
	}
	return p.replyLocked(in, ev)
}

// replyLocked sends the messages into which the dialect turns ev.
func (p *Peer) replyLocked(in *inbound, ev wire.Event) error {
	msgs, err := p.codec.Reply(in.Msg, ev)
	if err != nil {
		p.noteLocked(Note{Kind: NoteUnsent, Method: in.Msg.Method, Text: "an answer could not be written: " + err.Error()})
		if in.answered || ev.Kind == wire.Failure {
			return err
		}
		msgs, _ = p.codec.Reply(in.Msg, internalError())
	}
	for _, msg := range msgs {
		p.replyRawLocked(in, msg)
	}
	return err
}

func (p *Peer) replyRawLocked(in *inbound, msg []byte) {
	first := !in.answered
	if first && in.Msg.Kind == wire.Request {
		in.answered = true
		p.inflight.unanswered--
		p.change.pass()
	}
	if first && in.group != nil {
		p.putLocked(in.group, in.index, msg)
		return
	}
	p.sendLocked(outgoing{msg: msg})
	p.learnLocked(len(msg))
}

// owesNothingLocked notes that in will get no more answers.
func (p *Peer) owesNothingLocked(in *inbound) {
	if in.answered || in.Msg.Kind != wire.Request {
		return
	}
	in.answered = true
	p.inflight.unanswered--
	if in.group != nil {
		p.putLocked(in.group, in.index, nil)
	}
	if p.router != nil {
		p.sendLocked(outgoing{about: in.Msg.ID})
	}
}

// cancelledLocked ends the context of the request that m names; without one, m is a notification.
func (p *Peer) cancelledLocked(m *wire.Message) {
	if !p.inflight.cancel(m.Target) {
		m.Kind = wire.Notification
		p.notificationLocked(m)
	}
}

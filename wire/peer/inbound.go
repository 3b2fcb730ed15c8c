package peer

import (
	"context"
	"errors"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/ending"
	"rpcx/wire/peer/inbound"
	"rpcx/wire/scan"
)

const (
	floodBytes = 16 << 20 // the reader stops at this number of unsent bytes in responses
	maxPosts   = 64       // how many responses are posted at once; the reader stops while more wait
	codeCancel = -32800   // the code of the response to a cancelled request
)

// requestLocked dispatches a request.
func (p *Peer) requestLocked(m *wire.Message, g *inbound.Array) {
	if !p.end.Live() {
		return
	}
	in := p.requests.Arrive(m, g)
	full := p.requests.Full(len(m.Raw))
	if !full && p.o.Incoming != nil {
		p.requests.Take(in) // the request may be answered before Incoming returns
		if p.incomingLocked(&in.Msg) {
			return
		}
		p.untakeLocked(in)
	}
	switch {
	case full && p.waitsLocked(g) && p.requests.Later(in):
	case full:
		p.refuseLocked(in, p.busyLocked(in.Msg.Method))
	case p.handler.Handle == nil:
		p.noteLocked(Note{Kind: NoteUnhandledRequest, Method: in.Msg.Method, Text: "no hook for the request " + ending.Quoted(in.Msg.Method)})
		p.refuseLocked(in, wire.Errorf(wire.CodeNoMethod, "method not found: %s", in.Msg.Method))
	default:
		p.startLocked(in)
		p.serveAll(in)
	}
}

// startLocked prepares in for its handler. The caller holds the lock.
func (p *Peer) startLocked(in *inbound.Request) {
	in.Ctx, in.Cancel = context.WithCancel(dialect.WithFlowControl(p.ctx, flowControl{p, in}))
	in.Emit = func(ev wire.Event) error { return p.emit(in, ev) }
	p.requests.Start(in)
	if p.handler.Starts != nil {
		p.handler.Starts(&in.Inbound)
	}
	if in.Cancelled {
		in.Cancel()
	}
}

// serveAll serves in, and then the requests that waited for its slot, in one goroutine: its stack has already grown.
func (p *Peer) serveAll(in *inbound.Request) {
	p.wg.Go(func() {
		for in != nil {
			in = p.serve(in)
		}
	})
}

// finishLocked frees the slot of in and starts the queued requests that now have a slot. It returns one of them, which the
// caller must serve. The caller holds the lock.
func (p *Peer) finishLocked(in *inbound.Request) (first *inbound.Request) {
	p.requests.Finish(in)
	for p.end.Live() {
		next := p.requests.Next()
		if next == nil {
			break
		}
		p.startLocked(next) // only requests for a handler are queued
		if first == nil {
			first = next
		} else {
			p.serveAll(next)
		}
	}
	p.refuseQueuedLocked()
	p.change.Pass()
	return first
}

// refuseLocked responds to in with the error e. The caller holds the lock.
func (p *Peer) refuseLocked(in *inbound.Request, e *wire.Error) {
	_ = p.replyLocked(in, failure(e))
	p.owesNothingLocked(in)
}

// untakeLocked removes a request that Incoming did not take after all. The caller holds the lock.
func (p *Peer) untakeLocked(in *inbound.Request) {
	p.requests.Untake(in)
	p.change.Pass()
}

// serve runs the handler of one request and sends its response. It returns the next request to serve, if any.
func (p *Peer) serve(in *inbound.Request) (next *inbound.Request) {
	defer wire.Guard()
	ev, returned := wire.Event{}, false
	defer func() {
		if !returned { // the handler ends the goroutine
			ev = internalError()
		}
		if next = p.served(in, &ev); next != nil && !returned {
			p.serveAll(next)
		}
	}()
	if err := (flowControl{p, in}).Await(); err != nil {
		ev = failure(wire.AsError(err))
	} else {
		ev = p.run(in)
	}
	returned = true
	return next
}

// served sends the last response to in and frees the slot of in. It returns the next request to serve, if any. It releases the
// data of the response before it waits, because a peer that does not read can keep the slot in use for a long time.
func (p *Peer) served(in *inbound.Request, ev *wire.Event) *inbound.Request {
	defer in.Cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	in.Closed = true
	size := len(ev.Data)
	lacks := p.o.Budget.lacks(size)
	if lacks {
		*ev = failure(wire.NewError(wire.CodeServer, "too many responses wait for clients that do not read them: try again later"))
	}
	if !in.Answered {
		_ = p.replyLocked(in, *ev)
	}
	if lacks { // the next response will probably be as large, although this error is small
		p.outbox.learn(size)
	}
	*ev = wire.Event{}
	p.owesNothingLocked(in)
	// The slot stays in use until the response can be sent.
	_ = p.waitForLocked(p.ctx, &p.outbox.room, func() bool {
		return !p.outbox.full() && p.outbox.posting <= maxPosts || !p.end.Live()
	})
	return p.finishLocked(in)
}

// run calls the handler. It converts a panic to an internal error.
func (p *Peer) run(in *inbound.Request) (ev wire.Event) {
	defer func() {
		if v := recover(); v != nil {
			ev = internalError()
			p.note(Note{Kind: NotePanic, Method: in.Msg.Method, Text: panicText(v)})
		}
	}()
	result, err := p.handler.Handle(in.Ctx, &in.Inbound)
	if err == nil {
		return wire.Event{Kind: wire.Data, Final: true, Data: result}
	}
	e := wire.AsError(err)
	if p.wasCancelled(in) && in.Ctx.Err() != nil && !isRPC(err) {
		e = wire.NewError(codeCancel, "request cancelled")
	} else if p.ctx.Err() != nil && errors.Is(err, context.Canceled) && !isRPC(err) {
		e = errClosing()
	}
	if string(e.Code) == "-32601" && e.Raw == nil { // not the error of a nested call, which another peer returned
		n := Note{Kind: NoteUnhandledRequest, Method: in.Msg.Method, Text: "no hook for the request " + ending.Quoted(in.Msg.Method)}
		if e.Hint != "" {
			n.Kind, n.Text = NotePassedRequest, e.Hint
		}
		p.note(n)
	}
	return failure(e)
}

func (p *Peer) wasCancelled(in *inbound.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return in.Cancelled
}

func errClosing() *wire.Error {
	return wire.NewError(wire.CodeInternal, "the connection is being closed")
}

// isRPC reports whether err is a JSON-RPC error, which is sent unchanged.
func isRPC(err error) bool {
	_, ok := errors.AsType[*wire.Error](err)
	return ok
}

// emit sends one event of a response.
func (p *Peer) emit(in *inbound.Request, ev wire.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.waitRoomLocked(in.Ctx); err != nil {
		return err
	}
	p.goesOnLocked(in)
	// Items must follow the response that names their stream.
	err := p.waitForLocked(in.Ctx, &p.change, func() bool { return !in.Replied || !in.Array.Waiting() })
	if err != nil {
		return err
	}
	switch {
	case in.Closed:
		return errors.New("the request has been answered")
	case p.end.State == ending.Ended:
		return p.end.Fault(nil, "")
	case p.end.Sealed != nil && in.Replied:
		return p.end.Sealed
	}
	err = p.replyLocked(in, ev)
	if !ev.Final {
		p.goesOnLocked(in)
	}
	return err
}

// goesOnLocked records that the handler of in continues after its first response, if it has one. The caller holds the
// lock.
func (p *Peer) goesOnLocked(in *inbound.Request) {
	if in.Replied && !in.Closed && in.Msg.Kind == wire.Request {
		p.requests.GoesOn(in)
		p.refuseQueuedLocked()
	}
}

// replyLocked sends the messages into which the dialect converts ev. The caller holds the lock.
func (p *Peer) replyLocked(in *inbound.Request, ev wire.Event) error {
	msgs, err := p.codec.Reply(in.Msg, ev)
	if err != nil {
		p.noteLocked(Note{Kind: NoteUnsent, Method: in.Msg.Method, Text: "a response could not be written: " + err.Error()})
		if !in.Replied && ev.Kind != wire.Failure {
			msgs, _ = p.codec.Reply(in.Msg, internalError())
		}
	}
	for _, msg := range msgs {
		p.replyRawLocked(in, msg)
	}
	return err
}

func (p *Peer) replyRawLocked(in *inbound.Request, msg []byte) {
	first := p.requests.Answered(in)
	if first {
		p.change.Pass()
	}
	if first && in.Array != nil {
		p.putLocked(in, msg)
		return
	}
	p.sendLocked(outgoing{msg: msg})
	p.outbox.learn(len(msg))
}

// owesNothingLocked records that no further response to in is necessary. The caller holds the lock.
func (p *Peer) owesNothingLocked(in *inbound.Request) {
	if !p.requests.Answered(in) {
		return
	}
	if in.Array != nil {
		p.putLocked(in, nil)
	}
	if p.router != nil && in.Msg.Kind == wire.Request {
		p.sendLocked(outgoing{about: in.Msg.ID})
	}
}

// putLocked adds the response to in to the other responses of its array. If msg is nil, in has no response. The caller
// holds the lock.
func (p *Peer) putLocked(in *inbound.Request, msg []byte) {
	in.Array.Put(in, msg)
	p.outbox.hold(len(msg))
	p.sendArrayLocked(in.Array)
}

// sendArrayLocked sends the responses to an array once they are complete. The caller holds the lock.
func (p *Peer) sendArrayLocked(a *inbound.Array) {
	n := a.Bytes()
	replies, ok := a.Send()
	if !ok {
		return
	}
	p.change.Pass()
	p.outbox.hold(-n)
	if len(replies) > 0 {
		p.sendLocked(outgoing{msg: scan.ArrayOf(replies...)})
	}
}

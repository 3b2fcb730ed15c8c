package peer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

const (
	newsCount  = 1024      // notifications that wait before the reader stops
	newsMost   = 8 * 1024  // and, where it cannot, before the oldest are lost
	floodBytes = 16 << 20  // answers of ours that wait before the reader stops
	postsMost  = 64        // answers of ours that are being posted before it stops
	heldBytes  = 128 << 20 // requests in flight before further ones are refused, as with MaxInbound
	newsBytes  = 8 << 20   // as newsCount, in bytes
	newsLimit  = 128 << 20 // as newsMost, in bytes
	codeCancel = -32800    // what a cancelled request is answered with
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
}

// request dispatches a request. The lock is held.
func (p *Peer) request(m *wire.Message, g *group) {
	if p.state >= closing {
		return
	}
	in := &inbound{group: g}
	in.Msg = m.Clone()
	if g != nil {
		in.index = g.owe()
	}
	p.owed++
	full := p.held >= p.o.MaxInbound || p.held > 0 && p.heldBytes+len(m.Raw) > heldBytes
	if !full && p.o.Incoming != nil && p.takes(in) {
		return
	}
	switch {
	case full:
		if !p.busy { // told once: whoever floods us must not flood our user
			p.busy = true
			p.later(Note{Kind: NoteBusy, Method: in.Msg.Method, Text: "too many requests are in flight: some were refused"})
		}
		p.refuse(in, wire.NewError(wire.CodeServer, "busy").WithData(map[string]bool{"retryable": true}))
	case p.handler == nil:
		p.later(Note{Kind: NoteUnhandledRequest, Method: in.Msg.Method, Text: "nothing answers " + quoted(in.Msg.Method)})
		p.refuse(in, noMethod(in.Msg.Method))
	default:
		in.ctx, in.cancel = context.WithCancel(p.ctx)
		in.Emit = func(ev wire.Event) error { return p.emit(in, ev) }
		p.active[in] = struct{}{}
		p.hold(in)
		p.wg.Go(func() { p.serve(in) })
	}
}

// hold counts a request that is in flight, until letGo.
func (p *Peer) hold(in *inbound) {
	p.held++
	p.heldBytes += len(in.Msg.Raw)
}

func (p *Peer) letGo(in *inbound) {
	p.held--
	p.heldBytes -= len(in.Msg.Raw)
}

// refuse answers in with e at once.
func (p *Peer) refuse(in *inbound, e *wire.Error) {
	_ = p.reply(in, failure(e))
	p.owesNothing(in)
}

// takes offers in to Incoming. It can be answered before this returns.
func (p *Peer) takes(in *inbound) bool {
	id := string(in.Msg.ID)
	p.taken[id] = append(p.taken[id], in)
	p.hold(in)
	if p.incoming(&in.Msg) {
		return true
	}
	p.untake(in)
	return false
}

func (p *Peer) untake(in *inbound) bool {
	id := string(in.Msg.ID)
	i := slices.Index(p.taken[id], in)
	if i < 0 {
		return false
	}
	if p.taken[id] = slices.Delete(p.taken[id], i, i+1); len(p.taken[id]) == 0 {
		delete(p.taken, id)
	}
	p.letGo(in)
	p.change.pass()
	return true
}

// incoming shows m to Incoming, without the lock.
func (p *Peer) incoming(m *wire.Message) bool {
	if p.o.Incoming == nil {
		return false
	}
	c := m.Clone()
	p.wakeDirty() // Incoming may wait
	p.unlockAndTell()
	defer p.mu.Lock()
	return p.o.Incoming(c)
}

// answerTo shows an answer to a Raw operation to take, else to Incoming, without
// the lock.
func (p *Peer) answerTo(take func(wire.Message), m *wire.Message) {
	if take == nil {
		p.incoming(m)
		return
	}
	c := m.Clone()
	p.wakeDirty()
	p.unlockAndTell()
	defer p.mu.Lock()
	take(c)
}

// serve runs the handler of one request and answers with what it returns.
func (p *Peer) serve(in *inbound) {
	ev := failure(wire.NewError(wire.CodeInternal, "internal error"))
	defer func() { p.served(in, ev) }() // whatever becomes of the handler's goroutine
	ev = p.run(in)
}

// served answers with the last event of in and gives up its place.
func (p *Peer) served(in *inbound, ev wire.Event) {
	defer in.cancel()
	p.mu.Lock()
	defer p.unlockAndTell()
	in.closed = true
	if !in.Answered {
		_ = p.reply(in, ev)
	}
	p.owesNothing(in)
	for p.outBytes > roomBytes && p.state < closing { // its place is not free before the answer can leave
		c := p.room.wait()
		p.mu.Unlock()
		select {
		case <-c:
		case <-p.ctx.Done():
		}
		p.mu.Lock()
	}
	delete(p.active, in)
	p.letGo(in)
	p.change.pass()
}

// run calls the handler. A panic is an answer too.
func (p *Peer) run(in *inbound) (ev wire.Event) {
	ev = failure(wire.NewError(wire.CodeInternal, "internal error"))
	defer func() {
		if v := recover(); v != nil {
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
	if string(e.Code) == "-32601" && e.Raw == nil { // what a nested call got was answered by somebody
		p.note(Note{Kind: NoteUnhandledRequest, Method: in.Msg.Method, Text: "nothing answers " + quoted(in.Msg.Method)})
	}
	return failure(e)
}

func (p *Peer) wasCancelled(in *inbound) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return in.cancelled
}

// isRPC says that err is an error of the protocol, to be answered as it stands.
func isRPC(err error) bool {
	var e *wire.Error
	return errors.As(err, &e)
}

// emit sends one event of an answer.
func (p *Peer) emit(in *inbound, ev wire.Event) error {
	p.mu.Lock()
	defer p.unlockAndTell()
	if err := p.waitRoom(in.ctx); err != nil {
		return err
	}
	for in.group != nil && in.answered && !in.group.sent { // items follow the response that names their stream
		c := p.change.wait()
		p.mu.Unlock()
		select {
		case <-c:
		case <-in.ctx.Done():
		}
		p.mu.Lock()
		if err := in.ctx.Err(); err != nil {
			return err
		}
	}
	switch {
	case in.closed:
		return errors.New("the request has been answered")
	case p.state == ended:
		return p.noMore(nil, nil)
	case p.deaf != nil && in.answered:
		return p.deaf
	}
	return p.reply(in, ev)
}

// reply sends what the dialect makes of ev. The lock is held.
func (p *Peer) reply(in *inbound, ev wire.Event) error {
	msgs, err := p.codec.Reply(in.Msg, ev)
	if err != nil {
		p.later(Note{Kind: NoteUnsent, Method: in.Msg.Method, Text: "an answer could not be written: " + err.Error()})
		if in.answered || ev.Kind == wire.Failure {
			return err
		}
		msgs, _ = p.codec.Reply(in.Msg, failure(wire.NewError(wire.CodeInternal, "internal error")))
	}
	for _, msg := range msgs {
		p.replyRaw(in, msg)
	}
	return err
}

func (p *Peer) replyRaw(in *inbound, msg []byte) {
	first := !in.answered
	if first && in.Msg.Kind == wire.Request {
		in.answered = true
		p.owed--
		p.change.pass()
	}
	if first && in.group != nil {
		p.put(in.group, in.index, msg)
		return
	}
	p.send(outgoing{msg: msg})
}

// owesNothing notes that in gets no more answers.
func (p *Peer) owesNothing(in *inbound) {
	if in.answered || in.Msg.Kind != wire.Request {
		return
	}
	in.answered = true
	p.owed--
	if in.group != nil {
		p.put(in.group, in.index, nil)
	}
}

// cancelled ends the context of the request that m names. A cancel of anything
// else is a notification.
func (p *Peer) cancelled(m *wire.Message) {
	found := false
	for in := range p.active {
		if string(in.Msg.ID) == string(m.Target) {
			in.cancelled, found = true, true
			in.cancel()
		}
	}
	if !found {
		m.Kind = wire.Notification
		p.notification(m)
	}
}

func failure(e *wire.Error) wire.Event { return wire.Event{Kind: wire.Failure, Final: true, Err: e} }

func noMethod(name string) *wire.Error {
	return wire.Errorf(wire.CodeNoMethod, "method not found: %s", name)
}

// panicText is what a panic said and where it was, in a few lines.
func panicText(v any) string {
	lines := strings.Split(string(debug.Stack()), "\n")
	for i, line := range lines { // the frames above are those of the recovery
		if strings.HasPrefix(line, "panic(") {
			lines = lines[min(i+2, len(lines)):]
			break
		}
	}
	return fmt.Sprintf("a handler panicked: %v\n%s", v, strings.Join(lines[:min(len(lines), 8)], "\n"))
}

package peer

import (
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

const (
	// roomBytes is how much may wait to be sent before those who send wait.
	roomBytes = 1 << 20
	// grace is how long the reader may still tell why a write failed.
	grace = 500 * time.Millisecond
)

// outgoing is a message that waits to be sent.
type outgoing struct {
	msg  []byte
	call *stream         // that it asks for; nil: none
	done chan error      // gets what came of sending it; nil: nobody waits
	ctx  context.Context // of an exchange; nil: the peer's
}

// Open starts op: the message is on its way, and its answer will be in the
// stream. ctx bounds how long there may be no room to send, and on a
// wire.Exchanger the whole exchange. A message that has no answer is sent when
// Open returns, and its stream is at its end.
func (p *Peer) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if op.Kind == dialect.Watch {
		return p.watch(op)
	}
	s := newStream(p, op)
	p.mu.Lock()
	msg, err := p.encode(ctx, op, s)
	if err != nil {
		p.mu.Unlock()
		return nil, err
	}
	o := outgoing{msg: msg.Raw, ctx: ctx}
	if len(msg.ID) == 0 {
		s.ended, s.err = true, io.EOF
		return s, p.sendAndWait(ctx, o)
	}
	if p.state == eof {
		p.mu.Unlock()
		return nil, p.noMore(s, io.EOF)
	}
	if p.exchanger != nil {
		o.ctx, s.stop = context.WithCancel(ctx)
	}
	p.register(s, msg)
	o.call = s
	p.send(o)
	p.mu.Unlock()
	return s, nil
}

// Notify sends op and expects nothing; an answer that comes all the same is
// dropped. It returns when the message has been written.
func (p *Peer) Notify(ctx context.Context, op dialect.Op) error {
	s := newStream(p, op)
	p.mu.Lock()
	msg, err := p.encode(ctx, op, s)
	if err != nil {
		p.mu.Unlock()
		return err
	}
	if len(msg.ID) > 0 {
		s.id = string(msg.ID)
		p.leaveBehind(s)
	}
	return p.sendAndWait(ctx, outgoing{msg: msg.Raw, ctx: ctx})
}

// encode waits for room and returns op's message, under an id that is free. The
// lock is held, but given up while it waits.
func (p *Peer) encode(ctx context.Context, op dialect.Op, s *stream) (wire.Message, error) {
	if err := p.waitRoom(ctx); err != nil {
		return wire.Message{}, err
	}
	if p.state >= closing {
		return wire.Message{}, p.noMore(s, nil)
	}
	msg, err := p.codec.Encode(op)
	if s.op.Method == "" {
		s.op.Method = msg.Method
	}
	for err == nil && len(msg.ID) > 0 && p.idTaken(msg.ID) {
		if op.Kind != dialect.Raw {
			msg, err = p.codec.Encode(op)
			continue
		}
		var fresh wire.Message
		if fresh, err = p.codec.Encode(dialect.Op{Kind: dialect.Call, Method: "fresh"}); err == nil {
			if s.own == nil {
				s.own = msg.ID.Clone()
			}
			msg.Raw = scan.Splice(msg.Raw, "id", fresh.ID)
			msg.ID = fresh.ID
		}
	}
	return msg, err
}

func (p *Peer) idTaken(id wire.ID) bool {
	return p.calls[string(id)] != nil || p.left[string(id)] != nil
}

// restored is the answer m with the id that the user gave.
func restored(m *wire.Message, own wire.ID) *wire.Message {
	if own == nil {
		return m
	}
	c := *m
	c.Raw = scan.Splice(m.Raw, "id", own)
	c.ID = own
	return &c
}

// waitRoom waits until there is room to send. The lock is held, but given up
// while it waits.
func (p *Peer) waitRoom(ctx context.Context) error {
	for p.outBytes > roomBytes && p.state < ended {
		c := p.room.wait()
		p.mu.Unlock()
		select {
		case <-c:
		case <-ctx.Done():
		}
		p.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// sendAndWait sends o and waits until it is written. It gives up the lock.
func (p *Peer) sendAndWait(ctx context.Context, o outgoing) error {
	o.done = make(chan error, 1)
	p.send(o)
	p.mu.Unlock()
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send puts o into the queue and sees that somebody writes it. The lock is held.
func (p *Peer) send(o outgoing) {
	if p.state == ended {
		if o.done != nil {
			o.done <- p.noMore(o.call, nil)
		}
		return
	}
	if p.exchanger != nil {
		p.wg.Go(func() { p.exchange(o) })
		return
	}
	p.out = append(p.out, o)
	p.outBytes += len(o.msg)
	if !p.writing {
		p.writing = true
		p.wg.Go(p.write)
	}
}

// write sends what is queued until nothing is. What others are about to send is
// let in first, so that much leaves in one write; a sole message never waits.
func (p *Peer) write() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.out) > 0 {
		if p.batcher != nil && p.waiting > 1 {
			p.mu.Unlock()
			runtime.Gosched()
			p.mu.Lock()
		}
		batch := p.out
		p.out = p.spare[:0]
		p.mu.Unlock()
		n := p.writeAll(batch)
		clear(batch)
		p.mu.Lock()
		p.spare = batch
		p.outBytes -= n
		p.room.pass()
		p.change.pass()
	}
	p.writing = false
	p.change.pass()
}

// writeAll writes a batch and flushes it. It returns the number of bytes.
func (p *Peer) writeAll(batch []outgoing) (n int) {
	var bad error
	for i := range batch {
		o := &batch[i]
		n += len(o.msg)
		err := bad
		if err == nil {
			err = p.writeOne(o.msg)
		}
		switch {
		case err == nil:
			continue
		case !p.onlyThis(err):
			bad = err
		case o.call != nil:
			p.failCall(o.call, err)
		}
		if o.done != nil {
			o.done <- err
			o.done = nil
		} else if o.call == nil && p.onlyThis(err) {
			p.unsent(err)
		}
	}
	if p.batcher != nil && bad == nil {
		bad = p.batcher.Flush()
	}
	if bad != nil {
		bad = p.writeFailed(bad)
	}
	for _, o := range batch {
		if o.done != nil {
			o.done <- bad
		}
	}
	return n
}

func (p *Peer) writeOne(msg []byte) error {
	if p.o.Tap != nil {
		p.o.Tap(wire.Send, msg)
	}
	if p.batcher != nil {
		return p.batcher.SendBuffered(msg)
	}
	return p.conn.Send(msg)
}

// onlyThis says that err concerns one message (too large, say, or one too many
// in answer to a POST), not the connection.
func (p *Peer) onlyThis(err error) bool {
	var ce *wire.CloseError
	if errors.As(err, &ce) {
		return false
	}
	if f := wire.AsFault(err); f != nil {
		return f.Kind != wire.Closed && f.Kind != wire.Protocol
	}
	return p.oneShot
}

// unsent notes an answer that the connection did not take. Where the far side
// cannot be told more than it has been, streams learn it by deaf.
func (p *Peer) unsent(err error) {
	p.mu.Lock()
	again := p.deaf != nil
	if p.oneShot {
		p.deaf = err
	}
	p.mu.Unlock()
	if !again {
		p.note(Note{Kind: NoteUnsent, Text: "an answer was not sent: " + err.Error()})
	}
}

// failCall ends one call.
func (p *Peer) failCall(s *stream, err error) {
	p.mu.Lock()
	p.forget(s, err)
	p.mu.Unlock()
}

// writeFailed gives up a connection that cannot be written to, in a moment: the
// reader may know better why, such as a child's exit status.
func (p *Peer) writeFailed(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.abort == nil && p.state < ended {
		p.abort = err
		p.change.pass()
		p.wg.Go(func() {
			select {
			case <-time.After(grace):
				_ = p.conn.Close()
			case <-p.closeAt:
			}
		})
	}
	return closedFault(err, "", "")
}

// noMore is why s cannot be answered now.
func (p *Peer) noMore(s *stream, why error) error {
	method := ""
	if s != nil {
		method = s.op.Method
	}
	switch {
	case why != nil:
	case p.lost != nil:
		why = p.lost
	case p.ours:
		why = errOurs
	}
	return closedFault(why, method, "before "+quoted(method)+" was sent")
}

// exchange sends one message and receives what answers it.
func (p *Peer) exchange(o outgoing) {
	ctx, cancel := p.exchangeContext(o.ctx)
	defer cancel()
	in := o.call
	if in == nil {
		in = &stream{p: p, ended: true} // what comes back belongs to no call
	}
	if p.o.Tap != nil {
		p.o.Tap(wire.Send, o.msg)
	}
	err := p.exchanger.Exchange(ctx, o.msg, func(msg []byte) {
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
	p.forget(s, err)
}

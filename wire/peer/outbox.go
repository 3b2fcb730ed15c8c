package peer

import (
	"context"
	"errors"
	"runtime"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// roomBytes bounds what waits to be sent; senders wait while it is more.
const roomBytes = 1 << 20

// outbox is the part of a Peer that holds what waits to be sent.
//
// Its rules:
//   - Messages leave in the order in which they were put in. One goroutine
//     writes, and only while there is something to write (running).
//   - It takes all that waits at once, so that much leaves in one write. While
//     it writes, bytes still counts what it took.
//   - Those who send of their own accord wait for room first; answers never do.
//   - If each message is an exchange of its own, nothing is queued: posting
//     counts the answers that are on their way, or wait for their turn.
type outbox struct {
	queue   []outgoing
	spare   []outgoing // the memory of the batch that was written last
	bytes   int        // of what waits and of what is being written
	running bool       // the writer's goroutine runs
	room    gate       // opens when bytes has become less
	posting int        // answers of ours that are exchanges under way, or wait to be
}

// put queues o and reports whether a writer must be started.
func (b *outbox) put(o outgoing) (start bool) {
	b.queue = append(b.queue, o)
	b.bytes += len(o.msg)
	start = !b.running
	b.running = true
	return start
}

// take removes and returns all that waits.
func (b *outbox) take() []outgoing {
	batch := b.queue
	b.queue = b.spare[:0]
	return batch
}

// written notes that batch, which take returned, was written: n bytes.
func (b *outbox) written(batch []outgoing, n int) {
	clear(batch)
	b.spare = batch
	b.bytes -= n
	b.room.pass()
}

// full reports whether those who send must wait.
func (b *outbox) full() bool { return b.bytes > roomBytes }

// grace is how long a write that failed waits for the reader to report a better
// reason.
const grace = 500 * time.Millisecond

// outgoing is a message that waits to be sent.
type outgoing struct {
	msg  []byte
	call *stream         // that it asks for; nil: none, or several
	from *rawBatch       // that it is; nil: none
	done chan error      // gets what came of sending it; nil: nobody waits
	ctx  context.Context // of an exchange; nil: the peer's
	// about is the request of the far side that the message belongs to, which is no answer
	// to it; nil: none is known. Without a message: that request gets no answer.
	about wire.ID
}

// waitRoomLocked waits until there is room to send. The mutex is released while it waits.
func (p *Peer) waitRoomLocked(ctx context.Context) error {
	_ = p.waitForLocked(ctx, &p.outbox.room, func() bool { return !p.outbox.full() || p.state == ended })
	return ctx.Err()
}

// sendAndUnlock sends o and waits until it is written. It gives up the lock.
func (p *Peer) sendAndUnlock(ctx context.Context, o outgoing) error {
	o.done = make(chan error, 1)
	p.sendLocked(o)
	p.mu.Unlock()
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sendLocked puts o into the queue and sees that somebody writes it.
func (p *Peer) sendLocked(o outgoing) {
	if p.state == ended {
		if o.done != nil {
			o.done <- p.noMoreLocked(o.call, nil)
		}
		return
	}
	if p.exchanger != nil {
		if o.answers() {
			p.outbox.posting++
		}
		p.wg.Go(func() { p.exchange(o) })
		return
	}
	p.holdLocked(len(o.msg))
	if p.outbox.put(o) {
		p.wg.Go(p.write)
	}
}

// write sends until nothing is queued. It first lets other goroutines queue what
// they are about to send, so that much leaves in one write; a sole message never
// waits.
func (p *Peer) write() {
	defer wire.Guard()
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.outbox.queue) > 0 {
		if p.batcher != nil && p.calls.waiting > 1 {
			p.mu.Unlock()
			runtime.Gosched()
			p.mu.Lock()
		}
		batch := p.outbox.take()
		p.mu.Unlock()
		n := p.writeAll(batch)
		p.mu.Lock()
		p.outbox.written(batch, n)
		p.holdLocked(-n)
		p.change.pass()
	}
	p.outbox.running = false
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
			err = p.writeOne(o)
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

func (p *Peer) writeOne(o *outgoing) error {
	if o.msg == nil {
		p.router.NoAnswer(o.about)
		return nil
	}
	p.tap(wire.Send, o.msg)
	switch {
	case p.batcher != nil:
		return p.batcher.SendBuffered(o.msg)
	case p.router != nil && len(o.about) > 0:
		return p.router.SendAbout(o.about, o.msg)
	}
	return p.conn.Send(o.msg)
}

// aboutOf returns the request of the far side that op belongs to, where that matters.
func (p *Peer) aboutOf(ctx context.Context, op *dialect.Op) wire.ID {
	if p.router == nil || len(op.About) > 0 {
		return op.About
	}
	return dialect.FlowControlOf(ctx).Request()
}

// onlyThis reports whether err concerns one message (too large, say, or one too
// many in answer to a POST), not the connection.
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
	again := p.sendClosed != nil
	if p.oneShot {
		p.sendClosed = err
	}
	p.mu.Unlock()
	if !again {
		p.note(Note{Kind: NoteUnsent, Text: "an answer was not sent: " + err.Error()})
	}
}

// failCall ends one call.
func (p *Peer) failCall(s *stream, err error) {
	p.mu.Lock()
	p.forgetLocked(s, err)
	p.mu.Unlock()
}

// writeFailed gives up a connection that cannot be written to, in a moment: the
// reader may know better why, such as a child's exit status.
func (p *Peer) writeFailed(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.abort == nil && p.state < closing {
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

// tap shows a message to the Options' Record and Tap, as far as there are any.
func (p *Peer) tap(d wire.Direction, msg []byte) {
	if p.o.Record != nil {
		p.o.Record(d, msg)
	}
	if p.o.Tap != nil {
		p.o.Tap(d, msg)
	}
}

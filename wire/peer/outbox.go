package peer

import (
	"context"
	"errors"
	"runtime"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/ending"
)

// roomBytes bounds the bytes that wait to be sent; senders of requests wait while there are more.
const roomBytes = 1 << 20

// outbox is the part of a Peer that holds the messages that wait to be sent.
//
// Its rules:
//   - Messages are sent in the order in which they were put in. One goroutine writes, and it runs
//     only while there is something to write (running).
//   - It takes all that waits at once, so that many messages leave in one write. While it writes,
//     bytes still counts what it took.
//   - Requests and notifications of ours wait for room first; answers never do, as the peer may
//     wait for them.
//   - What is held counts in the Budget, too. It includes the answers to an array that is not complete.
//   - If each message is an exchange of its own, nothing is queued: posting counts the answers that
//     are being posted or wait to be.
type outbox struct {
	queue   []outgoing
	spare   []outgoing // the memory of the batch that was written last
	bytes   int        // of what waits and of what is being written
	running bool       // the writer's goroutine runs
	room    gate       // passed when bytes has become smaller
	posting int        // answers of ours that are being posted, or wait to be

	budget       *Budget
	held         int       // bytes that wait to be sent, those of arrays that are not complete included
	mostHeld     int       // the most that held has been
	awaitsBudget bool      // a goroutine will pass room when the Budget is within its bound
	awaitsTurn   bool      // a timer will pass room when the next handler may begin (turnLocked)
	begunAt      time.Time // when turnLocked last let a handler begin
	lastAnswer   int       // the size of the last answer; 0 means there was none
}

// hold notes that n more bytes wait to be sent; a negative n, that bytes were sent.
func (b *outbox) hold(n int) {
	b.held += n
	b.mostHeld = max(b.mostHeld, b.held)
	if b.budget != nil {
		b.budget.Hold(n)
	}
}

// learn notes the size of an answer, from which the size of the next ones is guessed.
func (b *outbox) learn(n int) {
	if b.lastAnswer = n; b.awaitsTurn && n <= smallAnswer {
		b.room.pass()
	}
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
	b.hold(-n)
	b.room.pass()
}

// idle reports whether nothing waits and nothing is being written.
func (b *outbox) idle() bool { return !b.running }

// full reports whether senders of requests must wait.
func (b *outbox) full() bool { return b.bytes > roomBytes }

// grace is how long a failed write waits for the reader, which may find a better reason for the end
// of the connection.
const grace = 500 * time.Millisecond

// outgoing is a message that waits to be sent.
type outgoing struct {
	msg  []byte
	call *stream         // the call that the message belongs to, or nil, or several
	from *rawBatch       // the batch that the message is, or nil
	done chan error      // receives the result of sending it; nil means nobody waits
	ctx  context.Context // the context of its exchange; nil means the peer's
	// about is the peer's request that the message belongs to without being its answer, or nil if there is none is
	// known. If msg is empty, it says that the request gets no answer.
	about wire.ID
}

// waitRoomLocked waits until there is room to send. The mutex is released while it waits.
func (p *Peer) waitRoomLocked(ctx context.Context) error {
	_ = p.waitForLocked(ctx, &p.outbox.room, func() bool { return !p.outbox.full() || p.end.State == ending.Ended })
	return ctx.Err()
}

// sendAndUnlock sends o and waits until it is written. It releases the lock.
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

// sendLocked queues o and starts the writer's goroutine if it does not run.
func (p *Peer) sendLocked(o outgoing) {
	if p.end.State == ending.Ended {
		if o.done != nil {
			method := ""
			if o.call != nil {
				method = o.call.op.Method
			}
			o.done <- p.end.Fault(nil, method)
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
	p.outbox.hold(len(o.msg))
	if p.outbox.put(o) {
		p.wg.Go(p.write)
	}
}

// write is the writer's goroutine: it sends until nothing is queued. Before each write it lets
// other goroutines queue what they are about to send, so that many messages leave in one write; a
// single message is sent at once.
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

// aboutOf returns the peer's request that op belongs to, if the connection needs to know it.
func (l *link) aboutOf(ctx context.Context, op *dialect.Op) wire.ID {
	if l.router == nil || len(op.About) > 0 {
		return op.About
	}
	return dialect.FlowControlOf(ctx).Request()
}

// onlyThis reports whether err concerns a single message (it is too large, or a second answer to a
// POST that takes one), and not the connection.
func (l *link) onlyThis(err error) bool {
	if _, ok := errors.AsType[*wire.CloseError](err); ok {
		return false
	}
	if f := wire.AsFault(err); f != nil {
		return f.Kind != wire.Closed && f.Kind != wire.Protocol
	}
	return l.singleExchange
}

// unsent handles an answer that the connection did not accept. If the peer cannot be told anything
// more, the contexts of its streams end.
func (p *Peer) unsent(err error) {
	p.mu.Lock()
	again := p.end.Sealed != nil
	if p.singleExchange {
		p.end.Sealed = err
	}
	p.mu.Unlock()
	if !again {
		p.note(Note{Kind: NoteUnsent, Text: "a response was not sent: " + err.Error()})
	}
}

// failCall ends one call.
func (p *Peer) failCall(s *stream, err error) {
	p.mu.Lock()
	p.forgetLocked(s, err)
	p.mu.Unlock()
}

// writeFailed ends a connection that cannot be written to. It waits for a moment first, as the
// reader may find the better reason, such as a child's exit status.
func (p *Peer) writeFailed(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end.Abort == nil && p.end.Live() {
		p.end.Abort = err
		p.change.pass()
		p.wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), grace)
			defer cancel()
			if p.until(ctx, func() bool { return false }) != nil {
				_ = p.conn.Close()
			}
		})
	}
	return ending.Fault(err, "", "")
}

// tap passes a message to Options.Record and Options.Tap.
func (p *Peer) tap(d wire.Direction, msg []byte) {
	if p.o.Record != nil {
		p.o.Record(d, msg)
	}
	if p.o.Tap != nil {
		p.o.Tap(d, msg)
	}
}

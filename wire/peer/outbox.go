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

// roomBytes bounds the bytes that wait to be sent. Senders of requests wait while more bytes wait.
const roomBytes = 1 << 20

// outbox is the part of a Peer that holds the messages to send.
//
// Its rules:
//   - Messages are sent in the order in which they are queued. One goroutine writes, and it runs
//     only while there is something to write (running).
//   - It takes all waiting messages at once, so that one write sends many. While it writes,
//     bytes still includes what it took.
//   - Local requests and notifications first wait for room. Answers never wait, because the peer may
//     wait for them.
//   - Held bytes also count in the Budget. They include the answers to an incomplete array.
//   - If each message is its own exchange, nothing is queued. posting counts the answers that
//     are being posted or wait for that.
type outbox struct {
	queue   []outgoing
	spare   []outgoing // the memory of the previous batch
	bytes   int        // the number of bytes that wait or are being written
	running bool       // the writer's goroutine is running
	room    wire.Gate  // passed when bytes has decreased
	posting int        // the number of local answers that are being posted or wait to be posted

	budget       *Budget
	held         int       // the number of bytes to send, including incomplete arrays
	mostHeld     int       // the maximum of held so far
	awaitsBudget bool      // a goroutine will pass room when the Budget is within its limit
	awaitsTurn   bool      // a timer will pass room when the next handler may begin (turnLocked)
	begunAt      time.Time // when turnLocked last let a handler begin
	lastAnswer   int       // the size of the last answer; 0 if there was none
}

// hold records n more bytes to send. A negative n records that bytes were sent.
func (b *outbox) hold(n int) {
	b.held += n
	b.mostHeld = max(b.mostHeld, b.held)
	if b.budget != nil {
		b.budget.Hold(n)
	}
}

// learn records the size of an answer, as an estimate for later answers.
func (b *outbox) learn(n int) {
	if b.lastAnswer = n; b.awaitsTurn && n <= smallAnswer {
		b.room.Pass()
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

// take removes and returns all waiting messages.
func (b *outbox) take() []outgoing {
	batch := b.queue
	b.queue = b.spare[:0]
	return batch
}

// written records that batch, which take returned, was written and has n bytes.
func (b *outbox) written(batch []outgoing, n int) {
	clear(batch)
	b.spare = batch
	b.bytes -= n
	b.hold(-n)
	b.room.Pass()
}

// idle reports whether no message waits or is being written.
func (b *outbox) idle() bool { return !b.running }

// full reports whether senders of requests must wait.
func (b *outbox) full() bool { return b.bytes > roomBytes }

// grace is the time that a failed write waits for the reader, which may find a better reason for the end of the
// connection.
const grace = 500 * time.Millisecond

// outgoing is a message that waits to be sent.
type outgoing struct {
	msg  []byte
	call *stream         // the call to which the message belongs, or nil if there is none or several
	from *rawBatch       // the batch that the message represents, or nil
	done chan error      // receives the result of sending; nil if no goroutine waits for it
	ctx  context.Context // the context of its exchange; nil for the peer's
	// about is the peer's request to which the message belongs, if the message is not its answer. It is nil if there is
	// no such request or it is unknown. If msg is empty, the request has no answer.
	about wire.ID
}

// waitRoomLocked waits until there is room to send. The mutex is released during the wait.
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

// sendLocked queues o and starts the writer's goroutine if it is not running.
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

// write is the writer's goroutine. It sends until nothing is queued. Before each write it lets other goroutines queue
// their messages, so that one write sends many. It sends a single message at once.
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
		p.change.Pass()
	}
	p.outbox.running = false
	p.change.Pass()
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

// onlyThis reports whether err concerns a single message and not the connection: the message is too large, or is the
// second answer to a POST that accepts only one.
func (l *link) onlyThis(err error) bool {
	if _, ok := errors.AsType[*wire.CloseError](err); ok {
		return false
	}
	if f := wire.AsFault(err); f != nil {
		return f.Kind != wire.Closed && f.Kind != wire.Protocol
	}
	return l.singleExchange
}

// unsent handles an answer that the connection did not accept. If nothing more can be sent to the peer, the contexts of
// its streams end.
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

// failCall ends one call with err.
func (p *Peer) failCall(s *stream, err error) {
	p.mu.Lock()
	p.forgetLocked(s, err)
	p.mu.Unlock()
}

// writeFailed ends a connection to which rpcx cannot write. It first waits briefly, because the reader may find a
// better reason, such as a child's exit status.
func (p *Peer) writeFailed(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end.Abort == nil && p.end.Live() {
		p.end.Abort = err
		p.change.Pass()
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

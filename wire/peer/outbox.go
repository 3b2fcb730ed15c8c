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

// roomBytes bounds the bytes to send. Senders of requests wait while there are more.
const roomBytes = 1 << 20

// outbox is the part of a Peer for the messages to send.
//
// Its rules:
//   - The queue keeps the order of the messages. One goroutine writes them, and runs only while the queue has messages
//     (running).
//   - The goroutine takes all waiting messages at once, because one write of many messages is cheaper. bytes includes
//     them until the write returns.
//   - Local requests and notifications first wait for room. Responses never wait, because the peer may wait for them.
//   - The Budget also counts the bytes in held. They include the responses to an incomplete array.
//   - The queue is unused if each message is its own exchange. posting then counts the responses that are being posted or
//     wait to be posted.
type outbox struct {
	queue   []outgoing
	spare   []outgoing // the memory of the previous batch
	bytes   int        // the bytes to write or being written
	running bool       // the writer's goroutine runs
	room    wire.Gate  // opens when bytes decreases
	posting int        // the local responses that are being posted or wait to be posted

	budget       *Budget
	held         int       // the bytes to send, including incomplete arrays
	mostHeld     int       // the maximum of held so far
	awaitsBudget bool      // a goroutine opens room when the Budget allows more
	awaitsTurn   bool      // a timer opens room when the next handler may start (turnLocked)
	begunAt      time.Time // when turnLocked last let a handler start
	lastAnswer   int       // the size of the last response, or 0
}

// hold adds n bytes to send. A negative n means that bytes were sent.
func (b *outbox) hold(n int) {
	b.held += n
	b.mostHeld = max(b.mostHeld, b.held)
	if b.budget != nil {
		b.budget.Hold(n)
	}
}

// learn stores the size of a response as an estimate for later ones.
func (b *outbox) learn(n int) {
	if b.lastAnswer = n; b.awaitsTurn && n <= smallAnswer {
		b.room.Pass()
	}
}

// put queues o and reports whether the caller must start a writer.
func (b *outbox) put(o outgoing) (start bool) {
	b.queue = append(b.queue, o)
	b.bytes += len(o.msg)
	start = !b.running
	b.running = true
	return start
}

func (b *outbox) take() []outgoing {
	batch := b.queue
	b.queue = b.spare[:0]
	return batch
}

// written records that batch, which take returned, was written with n bytes.
func (b *outbox) written(batch []outgoing, n int) {
	clear(batch)
	b.spare = batch
	b.bytes -= n
	b.hold(-n)
	b.room.Pass()
}

func (b *outbox) idle() bool { return !b.running }

// full reports whether senders of requests must wait.
func (b *outbox) full() bool { return b.bytes > roomBytes }

// grace is how long a failed write waits for the reader, which may find a better reason for the end of the connection.
const grace = 500 * time.Millisecond

// outgoing is a message in the outbox.
type outgoing struct {
	msg  []byte
	call *stream         // the only call of the message, or nil
	from *rawBatch       // the batch that the message represents, or nil
	done chan error      // receives the result of sending; may be nil
	ctx  context.Context // the context of its exchange; nil for that of the peer
	// about is the peer's request to which the message belongs without being its response, or nil. If msg is empty,
	// that request has no response.
	about wire.ID
}

// waitRoomLocked waits for room to send. The caller holds the lock, which the wait releases.
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

// sendLocked queues o and starts the writer's goroutine if necessary. The caller holds the lock.
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

// write is the writer's goroutine. It sends until the queue is empty. Before each write, it lets other goroutines queue
// messages, because one write can send many. It sends a single message at once.
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

// writeAll writes and flushes a batch. It returns the number of bytes.
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

// aboutOf returns the peer's request to which op belongs, if the connection needs it.
func (l *link) aboutOf(ctx context.Context, op *dialect.Op) wire.ID {
	if l.router == nil || len(op.About) > 0 {
		return op.About
	}
	return dialect.FlowControlOf(ctx).Request()
}

// onlyThis reports whether err concerns a single message and not the connection: the message is too large, or is a
// second response to a POST that accepts one.
func (l *link) onlyThis(err error) bool {
	if _, ok := errors.AsType[*wire.CloseError](err); ok {
		return false
	}
	if f := wire.AsFault(err); f != nil {
		return f.Kind != wire.Closed && f.Kind != wire.Protocol
	}
	return l.singleExchange
}

// unsent handles a response that the connection did not accept. If nothing more can be sent to the peer, the contexts
// of its streams end.
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

func (p *Peer) tap(d wire.Direction, msg []byte) {
	if p.o.Record != nil {
		p.o.Record(d, msg)
	}
	if p.o.Tap != nil {
		p.o.Tap(d, msg)
	}
}

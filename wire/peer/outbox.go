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

// roomBytes limits the bytes that are waiting to be sent. While there are more, senders of requests wait.
const roomBytes = 1 << 20

// outbox is the part of a Peer that sends messages.
//
// Its rules:
//   - The queue keeps the order of the messages. One goroutine writes them, and runs only while the queue has messages
//     (running).
//   - The goroutine takes all waiting messages at once, because one write of many messages is cheaper. bytes includes
//     them until the write returns.
//   - Local requests and notifications first wait for room. Responses never wait, because the peer may wait for them.
//   - The Budget counts the bytes in held, which include the responses to incomplete arrays.
//   - The queue is unused if each message is its own exchange. posting then counts the responses that are being posted or
//     wait to be posted.
type outbox struct {
	queue   []outgoing
	spare   []outgoing // the memory of the previous batch
	bytes   int        // bytes that wait to be written or are being written
	running bool       // the writer's goroutine is running
	room    wire.Gate  // opens when bytes decreases
	posting int        // how many local responses are being posted or wait to be posted

	budget       *Budget
	held         int       // the unsent bytes, including those of incomplete arrays
	mostHeld     int       // the largest value of held so far
	awaitsBudget bool      // a goroutine opens room when the Budget allows more
	awaitsTurn   bool      // a timer opens room when the next handler may start (turnLocked)
	begunAt      time.Time // when turnLocked last allowed a handler to start
	lastAnswer   int       // the size of the latest response, or 0
}

// hold adds n bytes to the unsent bytes. A negative n means that bytes have been sent.
func (b *outbox) hold(n int) {
	b.held += n
	b.mostHeld = max(b.mostHeld, b.held)
	if b.budget != nil {
		b.budget.Hold(n)
	}
}

// learn stores the size of a response, as an estimate for the next one.
func (b *outbox) learn(n int) {
	if b.lastAnswer = n; b.awaitsTurn && n <= smallAnswer {
		b.room.Pass()
	}
}

// put queues o, and reports whether the caller must start the writer.
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

// written records that n bytes of batch, which came from take, have been written.
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

// grace is how long rpcx waits after a failed write for the reader, which may find a better reason for the end of the
// connection.
const grace = 500 * time.Millisecond

// outgoing is a message in the outbox.
type outgoing struct {
	msg  []byte
	call *stream         // the message's only call, or nil
	from *rawBatch       // the batch that the message contains, or nil
	done chan error      // receives the result of sending a message without a call; may be nil
	ctx  context.Context // the context of the message's exchange; nil for the peer's own context
	// about is the id of a request from the peer to which the message belongs, although it is not the response. If msg
	// is nil, that request has no response.
	about wire.ID
}

// waitRoomLocked waits until there is room for another message. The caller holds the lock, which the wait releases.
func (p *Peer) waitRoomLocked(ctx context.Context) error {
	_ = p.waitForLocked(ctx, &p.outbox.room, func() bool { return !p.outbox.full() || p.end.State == ending.Ended })
	return ctx.Err()
}

// sendAndUnlock sends o and waits until it has been written. It releases the lock.
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
			o.done <- p.end.Fault(nil, "")
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

// write is the writer's goroutine. It runs until the queue is empty. While several calls wait, it lets other goroutines
// queue messages before each write, because one write can send many messages.
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

// writeAll writes and flushes a batch. It returns the number of bytes in the batch.
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

// aboutOf returns the id of the peer's request to which op belongs, if the connection needs that id.
func (l *link) aboutOf(ctx context.Context, op *dialect.Op) wire.ID {
	if l.router == nil || len(op.About) > 0 {
		return op.About
	}
	return dialect.FlowControlOf(ctx).Request()
}

// onlyThis reports whether err concerns a single message rather than the connection: the message is too large, or it is
// a second response to a POST that accepts only one.
func (l *link) onlyThis(err error) bool {
	if _, ok := errors.AsType[*wire.CloseError](err); ok {
		return false
	}
	if f := wire.AsFault(err); f != nil {
		return f.Kind != wire.Closed && f.Kind != wire.Protocol
	}
	return l.singleExchange
}

// unsent handles a response that the connection did not accept. On a single exchange, it records that the peer accepts
// no more messages.
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

// writeFailed ends a connection to which rpcx can no longer write. It first waits briefly, because the reader may find
// a better reason, such as a child's exit status.
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

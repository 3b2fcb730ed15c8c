// Package mailbox passes messages from a connection's reader to the consumer of a call.
package mailbox

import (
	"sync/atomic"

	"rpcx/wire"
)

// wakeBytes is the queue size at which the consumer wakes even if the reader has more messages.
const wakeBytes = 64 << 10

// A Box queues the messages of one call. The reader fills it, and one consumer empties it. The consumer calls Next,
// Peek, Queued and C without a lock. All other methods need the reader's lock.
//
// Its rules:
//   - The consumer takes the messages in chunks, and reads a chunk without the lock.
//   - The reader wakes a waiting consumer only after many messages, or when there is no more input (Hold). If each message
//     woke the consumer, the two would contend for the lock.
//   - After dropped messages, the consumer receives an event with their number.
//   - After End, the consumer first receives the queued messages and then the error of End.
type Box struct {
	queue
	wake    chan struct{} // receives a value when the consumer has something to do
	asks    bool          // the consumer is waiting for wake
	held    bool          // the consumer is not woken until Release
	dropped atomic.Bool
	lost    int64  // the number of dropped messages that the consumer has not been notified of
	err     error  // the argument of End; nil before
	current *chunk // the chunk that the consumer is reading
	pos     int    // the index of the next message in current
}

// Init initializes b.
func (b *Box) Init() { b.wake = make(chan struct{}, 1) }

// Size returns the number of queued bytes, including Overhead.
func (b *Box) Size() int { return b.size }

// Full reports whether the queue is so long that the consumer should be woken at once.
func (b *Box) Full() bool { return b.size >= wakeBytes }

// Hold delays waking the consumer until Release. It returns false if waking was already delayed.
func (b *Box) Hold() bool {
	was := b.held
	b.held = true
	return !was
}

// Release ends the delay and wakes the consumer if messages are queued.
func (b *Box) Release() {
	b.held = false
	b.Wake()
}

// Wake wakes the consumer if it is waiting.
func (b *Box) Wake() {
	if !b.asks {
		return
	}
	b.asks = false
	wire.Wake(b.wake)
}

// Lose counts n messages as dropped.
func (b *Box) Lose(n int64) { b.lost += n }

// Shed drops the oldest messages until at most about most bytes remain.
func (b *Box) Shed(most int) { b.lost += b.shed(most) }

// Drop drops all messages, even those in the consumer's current chunk.
func (b *Box) Drop() {
	b.dropped.Store(true)
	b.first, b.last, b.size = nil, nil, 0
}

// Dropped reports whether Drop was called.
func (b *Box) Dropped() bool { return b.dropped.Load() }

// End ends the box with err and wakes the consumer.
func (b *Box) End(err error) {
	b.err = err
	b.Wake()
}

// Err returns the argument of End, or nil before End.
func (b *Box) Err() error { return b.err }

// Ready reports whether Take would return a message.
func (b *Box) Ready() bool { return b.first != nil && (b.err != nil || b.due()) }

func (b *Box) due() bool { return !b.held || b.Full() }

// Next returns the next message of the current chunk, or nil. The message is valid until the next Take.
func (b *Box) Next() *wire.Message {
	if !b.Peek() || b.dropped.Load() {
		return nil
	}
	b.pos++
	return &b.current.msgs[b.pos-1]
}

// Peek reports whether the current chunk has more messages.
func (b *Box) Peek() bool { return b.current != nil && b.pos < len(b.current.msgs) }

// Queued removes and returns the rest of the current chunk.
func (b *Box) Queued() []wire.Message {
	if b.current == nil || b.dropped.Load() {
		return nil
	}
	rest := b.current.msgs[b.pos:]
	b.pos = len(b.current.msgs)
	return rest
}

// C returns the channel on which the consumer waits when Take has returned nothing.
func (b *Box) C() <-chan struct{} { return b.wake }

// Take makes the next chunk current and returns its first message. After the last message, it returns the error of End. If
// live is false, Take returns messages only from a box that has ended. A call can therefore be cancelled even if its
// messages never pause.
func (b *Box) Take(live bool) (*wire.Message, error) {
	b.recycle(b.current)
	b.current, b.pos = nil, 0
	if b.lost > 0 && b.first != nil {
		gap := &wire.Message{Kind: wire.Item, Event: &wire.Event{Kind: wire.Gap, Missed: b.lost}}
		b.lost = 0
		return gap, nil
	}
	if b.err != nil || live && b.due() {
		b.current = b.take()
	}
	if b.current != nil {
		b.pos = 1
		return &b.current.msgs[0], nil
	}
	b.asks = live
	return nil, b.err
}

// Package mailbox passes messages from a connection's reader to the consumer of a call.
package mailbox

import (
	"sync/atomic"

	"rpcx/wire"
)

// wakeBytes is the number of queued bytes that wakes the consumer even while the reader has more messages.
const wakeBytes = 64 << 10

// A Box queues the messages of one call. The reader fills it, and one consumer empties it. The consumer calls Next,
// Peek, Queued and C without a lock. All other methods need the reader's lock.
//
// Its rules:
//   - The consumer takes the messages in chunks, and reads a chunk without the lock.
//   - The reader wakes a waiting consumer only after many messages or when no input remains (Hold). If each message woke
//     the consumer, both would contend for the lock.
//   - An event with the number of the dropped messages follows them.
//   - After End, the consumer still receives the queued messages, and then the error of End.
type Box struct {
	queue
	wake    chan struct{} // receives a value when there is something for the consumer
	asks    bool          // the consumer waits for wake
	held    bool          // Release will wake the consumer
	dropped atomic.Bool
	lost    int64  // the number of dropped messages that the consumer does not know
	err     error  // the argument of End, or nil
	current *chunk // the chunk of the consumer
	pos     int    // the index of the next message in current
}

// Init initializes b.
func (b *Box) Init() { b.wake = make(chan struct{}, 1) }

// Put appends a copy of m.
func (b *Box) Put(m *wire.Message) { b.push(m) }

// Size returns the number of queued bytes, including Overhead.
func (b *Box) Size() int { return b.size }

// Full reports whether the queue is so long that the consumer should wake at once.
func (b *Box) Full() bool { return b.size >= wakeBytes }

// Hold delays the consumer's wake-up until Release. It returns false if the wake-up was already delayed.
func (b *Box) Hold() bool {
	was := b.held
	b.held = true
	return !was
}

// Release wakes the consumer if messages wait.
func (b *Box) Release() {
	b.held = false
	b.Wake()
}

// Wake wakes the consumer if it waits.
func (b *Box) Wake() {
	if !b.asks {
		return
	}
	b.asks = false
	wire.Wake(b.wake)
}

// Lose counts n messages as dropped.
func (b *Box) Lose(n int64) { b.lost += n }

// Shed drops the oldest messages until about most bytes remain.
func (b *Box) Shed(most int) { b.lost += b.shed(most) }

// Drop drops all messages, including the unread ones of the consumer.
func (b *Box) Drop() {
	b.dropped.Store(true)
	b.drop()
}

// Dropped reports whether Drop was called.
func (b *Box) Dropped() bool { return b.dropped.Load() }

// End ends the box with err and wakes the consumer.
func (b *Box) End(err error) {
	b.err = err
	b.Wake()
}

// Err returns the argument of End, or nil.
func (b *Box) Err() error { return b.err }

// Ready reports whether Take would return a message.
func (b *Box) Ready() bool { return b.first != nil && (b.err != nil || b.due()) }

func (b *Box) due() bool { return !b.held || b.Full() }

// Next returns the next message of the current run, or nil. The message is valid until the next Take.
func (b *Box) Next() *wire.Message {
	if !b.Peek() || b.dropped.Load() {
		return nil
	}
	b.pos++
	return &b.current.msgs[b.pos-1]
}

// Peek reports whether the current run has more messages.
func (b *Box) Peek() bool { return b.current != nil && b.pos < len(b.current.msgs) }

// Queued removes and returns the rest of the current run.
func (b *Box) Queued() []wire.Message {
	if b.current == nil || b.dropped.Load() {
		return nil
	}
	rest := b.current.msgs[b.pos:]
	b.pos = len(b.current.msgs)
	return rest
}

// C returns the channel on which the consumer waits after Take has returned nothing.
func (b *Box) C() <-chan struct{} { return b.wake }

// Take makes the next run current and returns its first message, or the error of End after the last. If live is false, Take
// returns nothing from a box that has not ended, which lets an uninterrupted stream be cancelled.
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

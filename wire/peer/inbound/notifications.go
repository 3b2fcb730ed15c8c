package inbound

import (
	"rpcx/wire"
	"rpcx/wire/dialect"
)

// These limits bound the queue of notifications.
const (
	maxQueued          = 1024      // the number at which the reader stops
	maxQueuedBytes     = 8 << 20   // the bytes at which the reader stops
	maxUnreadable      = 8 * 1024  // the maximum number while the reader must not stop; the oldest above that are lost
	maxUnreadableBytes = 128 << 20 // the maximum bytes while the reader must not stop; the oldest notifications above that are lost
)

// Notifications is the queue of notifications for the handler.
//
// Its rules:
//   - One goroutine handles the notifications in the order of arrival. It runs only while the queue has notifications
//     (Running).
//   - The reader stops while Full returns true, unless a call waits for an unread response. The queue then grows up to
//     higher limits. Beyond these limits, the peer drops the oldest notifications, with a note to the user.
type Notifications struct {
	Running bool
	Lost    int64
	queue   []dialect.Inbound
	bytes   int
}

// Put queues a copy of m. order is the number of m among all messages. Put returns true when it drops notifications for
// the first time on this connection.
func (n *Notifications) Put(m *wire.Message, order uint64) (losing bool) {
	before := n.Lost
	n.queue = append(n.queue, dialect.Inbound{Msg: m.Clone(), Order: order})
	n.bytes += len(m.Raw)
	for len(n.queue) > maxUnreadable || n.bytes > maxUnreadableBytes && len(n.queue) > 1 {
		n.Next()
		n.Lost++
	}
	return before == 0 && n.Lost > 0
}

// Full reports whether the reader should stop.
func (n *Notifications) Full() bool { return len(n.queue) >= maxQueued || n.bytes >= maxQueuedBytes }

// Empty reports whether the queue is empty.
func (n *Notifications) Empty() bool { return len(n.queue) == 0 }

// Next removes and returns the oldest notification. The queue must not be empty.
func (n *Notifications) Next() dialect.Inbound {
	in := n.queue[0]
	n.queue[0] = dialect.Inbound{}
	n.queue = n.queue[1:]
	n.bytes -= len(in.Msg.Raw)
	return in
}

// Stop empties the queue at the end of the goroutine that reads it.
func (n *Notifications) Stop() { *n = Notifications{Lost: n.Lost} }

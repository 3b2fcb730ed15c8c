package inbound

import (
	"rpcx/wire"
	"rpcx/wire/dialect"
)

const (
	maxQueued          = 1024      // the reader stops at this number
	maxQueuedBytes     = 8 << 20   // the reader stops at this size
	maxUnreadable      = 8 * 1024  // the maximum number while the reader must not stop; older notifications are dropped
	maxUnreadableBytes = 128 << 20 // the maximum size while the reader must not stop; older notifications are dropped
)

// Notifications queues the peer's notifications for the handler.
//
// Its rules:
//   - One goroutine handles the notifications in the order of arrival. It runs only while the queue has notifications
//     (Running).
//   - The reader stops while Full returns true, unless a call is waiting for an unread response. In that case, the queue
//     has higher limits, beyond which the oldest notifications are dropped with a note to the user.
type Notifications struct {
	Running bool
	Lost    int64
	queue   []dialect.Inbound
	bytes   int
}

// Put queues a copy of m. order is the position of m among all messages. Put returns true if it drops notifications for
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

func (n *Notifications) Empty() bool { return len(n.queue) == 0 }

// Next removes and returns the oldest notification. The queue must not be empty.
func (n *Notifications) Next() dialect.Inbound {
	in := n.queue[0]
	n.queue[0] = dialect.Inbound{}
	n.queue = n.queue[1:]
	n.bytes -= len(in.Msg.Raw)
	return in
}

// Stop empties the queue. The goroutine that reads the queue calls it before it ends.
func (n *Notifications) Stop() { *n = Notifications{Lost: n.Lost} }

package inbound

import (
	"rpcx/wire"
	"rpcx/wire/dialect"
)

const (
	maxQueued          = 1024      // the reader stops at this number
	maxQueuedBytes     = 8 << 20   // the reader stops at this size
	maxUnreadable      = 8 * 1024  // the maximum number before another message is read; older notifications are dropped
	maxUnreadableBytes = 128 << 20 // the maximum size before another message is read; older notifications are dropped
)

// Notifications queues the peer's notifications for the handler.
//
// Its rules:
//   - One goroutine handles the notifications in the order of arrival. It runs only while the queue has notifications
//     (Running).
//   - The reader stops while Full returns true, unless a call is waiting for an unread response. In that case, the queue
//     has higher limits, beyond which the oldest notifications are dropped with a note to the user (Trim).
//   - The notifications of one array are all queued, because the reader can stop only after the array.
type Notifications struct {
	Running bool
	Lost    int64
	queue   []dialect.Inbound
	bytes   int
}

// Put queues a copy of m. order is the position of m among all messages.
func (n *Notifications) Put(m *wire.Message, order uint64) {
	n.queue = append(n.queue, dialect.Inbound{Msg: m.Clone(), Order: order})
	n.bytes += len(m.Raw)
}

// Trim drops the oldest notifications beyond the limits. The reader calls it before each message that it decodes. Trim
// returns true if it drops notifications for the first time on this connection.
func (n *Notifications) Trim() (losing bool) {
	before := n.Lost
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

package peer

import "rpcx/wire"

// The limits of what waits for the handler of notifications.
const (
	newsCount = 1024      // how many wait before the reader stops
	newsBytes = 8 << 20   // the same in bytes
	newsMost  = 8 * 1024  // how many wait, where the reader cannot stop, before the oldest are lost
	newsLimit = 128 << 20 // the same in bytes
)

// notifications is the part of a Peer that holds the notifications which wait
// for the handler.
//
// Its rules:
//   - They are handled one after another, in the order in which they came, by
//     one goroutine that runs only while there are any (running).
//   - The reader stops while they are full, unless somebody waits for an answer
//     that is still to be read. Then they grow up to further limits, beyond
//     which the oldest are lost, and somebody is told.
type notifications struct {
	queue   []wire.Message
	bytes   int
	running bool
}

// put queues a copy of m and returns how many were lost for it.
func (n *notifications) put(m *wire.Message) (lost int) {
	n.queue = append(n.queue, m.Clone())
	n.bytes += len(m.Raw)
	for len(n.queue) > newsMost || n.bytes > newsLimit && len(n.queue) > 1 {
		n.next()
		lost++
	}
	return lost
}

// full reports whether the reader should stop.
func (n *notifications) full() bool { return len(n.queue) >= newsCount || n.bytes >= newsBytes }

// next removes and returns the oldest; there must be one.
func (n *notifications) next() wire.Message {
	m := n.queue[0]
	n.queue[0] = wire.Message{}
	n.queue = n.queue[1:]
	n.bytes -= len(m.Raw)
	return m
}

// stop forgets what waits: the goroutine that handles it ends.
func (n *notifications) stop() { *n = notifications{} }

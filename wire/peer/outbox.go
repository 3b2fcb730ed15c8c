package peer

// roomBytes is how much may wait to be sent before those who send wait.
const roomBytes = 1 << 20

// outbox is the part of a Peer that holds what waits to be sent.
//
// Its rules:
//   - Messages leave in the order in which they were put in. One goroutine
//     writes, and only while there is something to write (running).
//   - It takes all that waits at once, so that much leaves in one write. While
//     it writes, bytes still counts what it took.
//   - Those who send of their own accord wait for room first; answers never do.
//   - If each message is an exchange of its own, nothing is queued: posting
//     counts the answers that are on their way.
type outbox struct {
	queue   []outgoing
	spare   []outgoing // the memory of the batch that was written last
	bytes   int        // of what waits and of what is being written
	running bool       // the writer's goroutine runs
	room    gate       // opens when bytes has become less
	posting int        // answers of ours that are exchanges under way
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
	b.room.pass()
}

// full reports whether those who send must wait.
func (b *outbox) full() bool { return b.bytes > roomBytes }

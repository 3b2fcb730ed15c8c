package mailbox

import (
	"sync"

	"rpcx/wire"
)

const (
	chunkBytes = 64 << 10
	chunkCount = 256
)

// Overhead is the memory that a queued message needs in addition to its own bytes.
const Overhead = 192

// chunk is a series of messages whose bytes share one buffer. The reader fills it, and the consumer reads it without a
// lock.
type chunk struct {
	buf  []byte
	msgs []wire.Message
	size int
	next *chunk
}

// chunks contains empty chunks.
var chunks = sync.Pool{New: func() any { return newChunk(chunkBytes) }}

func newChunk(n int) *chunk {
	return &chunk{buf: make([]byte, 0, n), msgs: make([]wire.Message, 0, chunkCount)}
}

// queue is a list of chunks. The reader fills the last chunk, and the consumer takes the first. In steady operation,
// the same two or three chunks are reused, and nothing is allocated.
type queue struct {
	first, last *chunk
	size        int // the queued bytes, including Overhead
	single      chunk
	one         [1]wire.Message
}

// Put appends a copy of m. It copies the large Message struct only once. The first message gets a buffer of exactly
// its size, because most calls have one response.
func (q *queue) Put(m *wire.Message) {
	c := q.last
	if c == nil || len(c.msgs) == cap(c.msgs) || cap(c.buf)-len(c.buf) < len(m.Raw) {
		c = q.grow(len(m.Raw))
	}
	at := len(c.msgs) // grow has made room for it
	c.msgs = c.msgs[:at+1]
	c.buf = c.msgs[at].CopyOf(m, c.buf)
	n := len(m.Raw) + Overhead
	c.size += n
	q.size += n
}

// grow appends a chunk with room for n bytes.
func (q *queue) grow(n int) *chunk {
	var c *chunk
	switch {
	case q.single.msgs == nil:
		c = &q.single
		c.msgs, c.buf = q.one[:0], make([]byte, 0, n)
	case n <= chunkBytes:
		c = chunks.Get().(*chunk)
	default:
		c = newChunk(n)
	}
	if q.last == nil {
		q.first = c
	} else {
		q.last.next = c
	}
	q.last = c
	return c
}

// take removes and returns the first chunk. It returns nil for an empty queue.
func (q *queue) take() *chunk {
	c := q.first
	if c == nil {
		return nil
	}
	if q.first = c.next; q.first == nil {
		q.last = nil
	}
	q.size -= c.size
	return c
}

// shed drops the oldest chunks until at most most bytes are queued, but always keeps the newest chunk. It returns the
// number of dropped messages.
func (q *queue) shed(most int) (lost int64) {
	for q.size > most && q.first != q.last {
		c := q.take()
		lost += int64(len(c.msgs))
		q.recycle(c)
	}
	return lost
}

// recycle makes c, a chunk from take, available for reuse, unless it had a huge message.
func (q *queue) recycle(c *chunk) {
	if c == nil || c == &q.single || cap(c.buf) > chunkBytes {
		return
	}
	clear(c.msgs) // the messages may contain cloned errors
	*c = chunk{buf: c.buf[:0], msgs: c.msgs[:0]}
	chunks.Put(c)
}

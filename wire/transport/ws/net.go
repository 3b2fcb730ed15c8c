package ws

import (
	"bufio"
	"net"
	"sync"
	"sync/atomic"
)

// wsBuffer is the size of a WebSocket's buffer in each direction. The library's buffers have 4 KiB, with a system call
// for each.
const wsBuffer = 64 << 10

// A wsNet is the net.Conn below a WebSocket (and its TLS). It reads many bytes at a time, reports when it is about to wait,
// and queues writes until flush. It can be closed while the library waits for the peer.
type wsNet struct {
	net.Conn
	left func() // frees the client's place; may be nil

	// The library serializes reads with a lock.
	ahead bool          // read more than requested
	in    *bufio.Reader // nil before its first use
	idle  func()        // runs before Recv waits; may be nil
	phase atomic.Int32  // inRecv, closing, or 0
	waits atomic.Int64  // the number of reads; odd while one waits

	broken atomic.Pointer[error] // the first error of a read or write

	mu   sync.Mutex
	out  []byte
	hold atomic.Int32
	err  error            // the first write error, after which nothing is written
	now  nonblockingWrite // the state of flushNow
}

// Wrap returns a connection for a WebSocket or its TLS. Close calls left, which may be nil.
func Wrap(conn net.Conn, left func()) net.Conn { return &wsNet{Conn: conn, left: left} }

// NetConn returns the underlying connection.
func (n *wsNet) NetConn() net.Conn { return n.Conn }

// Close closes the connection.
func (n *wsNet) Close() error {
	if n.left != nil {
		n.left()
	}
	return n.Conn.Close()
}

// These are the phases of a connection. Close reads too, on its own goroutine.
const (
	inRecv = iota + 1
	closing
)

// Read returns bytes that were read ahead, or waits for more.
func (n *wsNet) Read(p []byte) (int, error) {
	if !n.ahead {
		return waiter{n}.Read(p)
	}
	if n.in == nil {
		n.in = bufio.NewReaderSize(waiter{n}, wsBuffer)
	}
	return n.in.Read(p)
}

// A waiter reads from the connection.
type waiter struct{ n *wsNet }

func (w waiter) Read(p []byte) (int, error) {
	n := w.n
	if n.idle != nil && n.phase.Load() == inRecv {
		n.idle()
	}
	n.waits.Add(1)
	defer n.waits.Add(1)
	got, err := n.Conn.Read(p)
	if err != nil {
		n.broken.CompareAndSwap(nil, &err)
	}
	return got, err
}

// failed returns the first error of the connection since start, or nil.
func (n *wsNet) failed() error {
	if err := n.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// waiting returns a number that stays equal while one read waits, and whether a read is waiting.
func (n *wsNet) waiting() (int64, bool) {
	w := n.waits.Load()
	return w, w%2 == 1
}

// Write queues p while SendBuffered runs. Otherwise it writes at once, because a pong must not wait for the next flush.
func (n *wsNet) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.out)+len(p) > wsBuffer {
		n.flush()
	}
	if n.err == nil && len(p) > wsBuffer {
		n.write(p)
	} else if n.err == nil {
		n.out = append(n.out, p...)
	}
	if n.hold.Load() == 0 {
		n.flush()
	}
	if n.err != nil {
		return 0, n.err
	}
	return len(p), nil
}

// Flush writes the queued bytes.
func (n *wsNet) Flush() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.flush()
	return n.err
}

// flushNow writes as many queued bytes as possible without blocking.
func (n *wsNet) flushNow() (done bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.out) > 0 && n.err == nil {
		n.writeNonblocking()
	}
	return len(n.out) == 0 || n.err != nil, n.err
}

func (n *wsNet) flush() {
	if len(n.out) > 0 && n.err == nil {
		n.write(n.out)
	}
	n.out = n.out[:0]
}

func (n *wsNet) write(p []byte) {
	if _, n.err = n.Conn.Write(p); n.err != nil {
		err := n.err
		n.broken.CompareAndSwap(nil, &err)
	}
}

// writable reports whether no write is waiting for the peer.
func (n *wsNet) writable() bool {
	ok := n.mu.TryLock()
	if ok {
		n.mu.Unlock()
	}
	return ok
}

// heard passes the first message to the observer.
func (w *Conn) heard(msg []byte) []byte {
	if w.c.First != nil {
		w.c.First(msg)
		w.c.First = nil
	}
	return msg
}

// FlushNow flushes as much as possible without blocking. done reports that nothing remains.
func (w *Conn) FlushNow() (done bool, err error) {
	done, err = w.net.flushNow()
	return done, w.sent(err)
}

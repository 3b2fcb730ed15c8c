package ws

import (
	"bufio"
	"net"
	"sync"
	"sync/atomic"
)

// wsBuffer is the size of a WebSocket's buffer in each direction, in bytes. The buffers of the library have 4 KiB, and
// each needs a system call.
const wsBuffer = 64 << 10

// A wsNet is the net.Conn below a WebSocket and its TLS. It reads many bytes at a time, reports when it is about to wait,
// and queues writes until flush. It can be closed while the library is waiting for the peer.
type wsNet struct {
	net.Conn
	left func() // frees the connection's place on the listener; may be nil

	// The library reads under a lock, so these need no other.
	ahead bool          // read more bytes than were requested
	in    *bufio.Reader // nil before its first use
	idle  func()        // called before Recv waits; may be nil
	phase atomic.Int32  // inRecv, closing, or 0
	waits atomic.Int64  // the number of reads that have started and ended; odd while one is waiting

	broken atomic.Pointer[error] // the first error of a read or a write

	mu   sync.Mutex
	out  []byte
	hold atomic.Int32
	err  error            // the first error of a write; after that, nothing more is written
	now  nonblockingWrite // the state of flushNow
}

// Wrap returns a connection that can be used for a WebSocket, or for the TLS below it. Close calls left, which may be
// nil.
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

// The phases of a connection are distinguished, because the library's close also reads, on a goroutine of its own.
const (
	inRecv = iota + 1
	closing
)

// Read returns bytes that have been read ahead, or waits for more.
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

// failed returns the first error of the connection, or nil.
func (n *wsNet) failed() error {
	if err := n.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// waiting returns a number that does not change while a single read is waiting, and whether a read is waiting.
func (n *wsNet) waiting() (int64, bool) {
	w := n.waits.Load()
	return w, w%2 == 1
}

// Write queues p while SendBuffered is running. At other times it writes at once, because a pong must not wait for the
// next flush.
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

// Flush writes the bytes that are queued.
func (n *wsNet) Flush() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.flush()
	return n.err
}

// flushNow writes as many of the queued bytes as it can without blocking.
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

// writable reports whether no write is blocked.
func (n *wsNet) writable() bool {
	ok := n.mu.TryLock()
	if ok {
		n.mu.Unlock()
	}
	return ok
}

// observeFirst passes the first message to Config.First, and returns msg.
func (w *Conn) observeFirst(msg []byte) []byte {
	if w.c.First != nil {
		w.c.First(msg)
		w.c.First = nil
	}
	return msg
}

// FlushNow flushes as much as it can without blocking. done is true if nothing remains.
func (w *Conn) FlushNow() (done bool, err error) {
	done, err = w.net.flushNow()
	return done, w.sent(err)
}

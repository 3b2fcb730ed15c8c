package ws

import (
	"bufio"
	"net"
	"sync"
	"sync/atomic"
)

// wsBuffer is the size of a WebSocket's buffers in each direction. The
// library's own have 4 KiB, and a read or write of the system for each of them.
const wsBuffer = 64 << 10

// A wsNet is the net.Conn under a WebSocket (and under its TLS). It reads much
// at a time, says when it is about to wait, holds back what is sent until
// flush, and can be closed while the library waits for the peer.
type wsNet struct {
	net.Conn
	left func() // gives a client's place back; nil: it had none

	// The reading side belongs to whoever reads; the library has a lock for that.
	ahead bool          // more is read than is asked for
	in    *bufio.Reader // nil until then
	idle  func()        // called before Recv waits; nil for none
	phase atomic.Int32  // inRecv, closing, or 0
	waits atomic.Int64  // odd while waiting for bytes, and never the same twice

	broken atomic.Pointer[error] // of the first read or write that failed

	mu   sync.Mutex
	out  []byte // what is held back
	hold atomic.Int32
	err  error            // of the first write that failed; nothing is written after it
	now  nonblockingWrite // of flushNow
}

// Wrap returns a connection that a WebSocket, or its TLS, can be on. left, if it is not nil, is called when it closes.
func Wrap(conn net.Conn, left func()) net.Conn { return &wsNet{Conn: conn, left: left} }

// NetConn returns the connection below.
func (n *wsNet) NetConn() net.Conn { return n.Conn }

// Close closes the connection.
func (n *wsNet) Close() error {
	if n.left != nil {
		n.left()
	}
	return n.Conn.Close()
}

// The phases of a connection. Close reads too, on its own goroutine: that is not Recv.
const (
	inRecv = iota + 1
	closing
)

// Read returns bytes that were read before, or waits for more.
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

// failed returns the first error of the connection since start; nil: none.
func (n *wsNet) failed() error {
	if err := n.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// waiting returns a number that stays the same as long as one and the same
// read waits, and whether there is one.
func (n *wsNet) waiting() (int64, bool) {
	w := n.waits.Load()
	return w, w%2 == 1
}

// Write holds p back while someone sends buffered, and writes at once
// otherwise, so a pong does not wait for the next flush.
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

// Flush writes what is held back.
func (n *wsNet) Flush() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.flush()
	return n.err
}

// flushNow writes of what is held back as much as goes without waiting.
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

// writable reports whether no write is waiting for the peer to read.
func (n *wsNet) writable() bool {
	ok := n.mu.TryLock()
	if ok {
		n.mu.Unlock()
	}
	return ok
}

// heard shows the first message to whoever wants it.
func (w *Conn) heard(msg []byte) []byte {
	if w.c.First != nil {
		w.c.First(msg)
		w.c.First = nil
	}
	return msg
}

// FlushNow is Flush as far as that goes without waiting; done: nothing is left.
func (w *Conn) FlushNow() (done bool, err error) {
	done, err = w.net.flushNow()
	return done, w.sent(err)
}

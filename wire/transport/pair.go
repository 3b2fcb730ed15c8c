package transport

import (
	"io"
	"net"
	"sync"

	"rpcx/wire"
)

// These constants limit the messages in one direction of a pair. Beyond them, Send waits.
const (
	pairMessages = 64
	pairBytes    = 1 << 20 // in bytes; a message that is larger needs an empty queue
	pairKeep     = 64 << 10
)

// Pair returns the two ends of a connection that exists only in memory. Send waits while the peer has 64 unread
// messages or 1 MiB of them. When one end is closed, the other end receives the remaining messages and then a clean
// *wire.CloseError. After CloseSend, it receives io.EOF instead. Both ends are wire.Idlers and wire.HalfClosers.
func Pair() (a, b wire.Conn) {
	ab, ba := newPairQueue(), newPairQueue()
	return &pairEnd{in: ba, out: ab}, &pairEnd{in: ab, out: ba}
}

type pairEnd struct {
	in, out *pairQueue
	onIdle  func()
}

func (e *pairEnd) OnIdle(f func())       { e.onIdle = f }
func (e *pairEnd) Recv() ([]byte, error) { return e.in.pop(e.onIdle) }
func (e *pairEnd) Send(msg []byte) error { return e.out.push(msg) }
func (e *pairEnd) CloseSend() error      { e.out.end(pairEnded); return nil }

// Close notifies the peer last, when the peer can no longer send.
func (e *pairEnd) Close() error {
	e.in.end(pairAbandoned)
	e.out.end(pairClosed)
	return nil
}

// The state of a queue only moves forward in this list.
const (
	pairOpen      = iota
	pairEnded     // the sender has called CloseSend
	pairClosed    // the sender has closed
	pairAbandoned // the receiver has closed, and messages are dropped
)

// pairQueue is one direction of a pair. It is a ring whose buffers are reused. A goroutine does not hold the lock while
// it waits.
type pairQueue struct {
	mu      sync.Mutex
	changed sync.Cond
	ring    [pairMessages][]byte
	head, n int
	bytes   int
	state   int
	lent    []byte // what the last pop returned
}

func newPairQueue() *pairQueue {
	q := &pairQueue{}
	q.changed.L = &q.mu
	return q
}

func (q *pairQueue) push(msg []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.state == pairOpen && (q.n == pairMessages || q.n > 0 && q.bytes+len(msg) > pairBytes) {
		q.changed.Wait()
	}
	if q.state != pairOpen {
		return &wire.CloseError{Clean: true}
	}
	slot := &q.ring[(q.head+q.n)%pairMessages]
	*slot = append((*slot)[:0], msg...)
	q.n++
	q.bytes += len(msg)
	q.changed.Broadcast()
	return nil
}

func (q *pairQueue) pop(onIdle func()) ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 && q.state == pairOpen && onIdle != nil {
		q.mu.Unlock()
		onIdle()
		q.mu.Lock()
	}
	for q.n == 0 && q.state == pairOpen {
		q.changed.Wait()
	}
	if q.n == 0 || q.state == pairAbandoned {
		if q.state == pairEnded {
			return nil, io.EOF
		}
		return nil, &wire.CloseError{Clean: true}
	}
	if cap(q.lent) > pairKeep {
		q.lent = nil // frees the buffer of a huge message
	}
	slot := &q.ring[q.head]
	q.lent, *slot = *slot, q.lent
	q.head = (q.head + 1) % pairMessages
	q.n--
	q.bytes -= len(q.lent)
	q.changed.Broadcast()
	return q.lent, nil
}

// end moves the queue to state, unless it is already in a later one.
func (q *pairQueue) end(state int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state = max(q.state, state)
	q.changed.Broadcast()
}

// Single returns a listener with one client, which is already connected.
func Single(conn wire.Conn) Listener {
	l := &single{conn: make(chan wire.Conn, 1), closed: make(chan struct{})}
	l.conn <- conn
	return l
}

type single struct {
	conn   chan wire.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept returns the connection. If it is called again, it waits until Close.
func (l *single) Accept() (wire.Conn, error) {
	select {
	case conn := <-l.conn:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Endpoint returns "", because no other client can connect.
func (l *single) Endpoint() string { return "" }

// Close closes the listener, and a connection that was not accepted.
func (l *single) Close() error {
	l.once.Do(func() {
		close(l.closed)
		select {
		case conn := <-l.conn:
			conn.Close()
		default:
		}
	})
	return nil
}

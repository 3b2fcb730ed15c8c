package transport

import (
	"io"
	"net"
	"sync"

	"rpcx/wire"
)

// These limits bound one direction of a pair. Send waits beyond them.
const (
	pairMessages = 64
	pairBytes    = 1 << 20 // a larger message needs an empty queue
	pairKeep     = 64 << 10
)

// Pair returns the two ends of a connection in memory. Send waits while the peer has 64 messages or 1 MiB to read.
// After Close of one end, the other receives the remaining messages and a clean *wire.CloseError, and after CloseSend
// io.EOF. Both ends are wire.Idlers and wire.HalfClosers.
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

// These are the states of a queue in order.
const (
	pairOpen      = iota
	pairEnded     // the sender has called CloseSend
	pairClosed    // the sender has closed
	pairAbandoned // the receiver has closed; the queue drops messages
)

// pairQueue is one direction: a ring with reused buffers. A goroutine that waits does not hold the lock.
type pairQueue struct {
	mu      sync.Mutex
	changed sync.Cond
	ring    [pairMessages][]byte
	head, n int
	bytes   int
	state   int
	lent    []byte // the result of the last pop
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
		q.lent = nil // releases the buffer of a huge message
	}
	slot := &q.ring[q.head]
	q.lent, *slot = *slot, q.lent
	q.head = (q.head + 1) % pairMessages
	q.n--
	q.bytes -= len(q.lent)
	q.changed.Broadcast()
	return q.lent, nil
}

// end moves the queue to a later state.
func (q *pairQueue) end(state int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state = max(q.state, state)
	q.changed.Broadcast()
}

// Single returns a listener for one connected client.
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

// Accept returns the connection. A later call waits for Close.
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

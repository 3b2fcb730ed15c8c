package transport

import (
	"net"
	"sync"

	"rpcx/wire"
)

// Single returns a listener for one client that is already connected.
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

// Accept returns the connection once, and then waits for Close.
func (l *single) Accept() (wire.Conn, error) {
	select {
	case conn := <-l.conn:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Endpoint returns "", because other clients cannot connect.
func (l *single) Endpoint() string { return "" }

// Close closes the listener, and the connection if it was not accepted.
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

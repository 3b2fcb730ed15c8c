//go:build linux

package main

import (
	"bufio"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

const stopSignal = syscall.SIGSTOP

// A link is one connection to rpcx. One goroutine reads it, so that a peer that
// writes much is read meanwhile.
type link struct {
	conn  io.ReadWriteCloser
	raw   net.Conn // beneath TLS; nil for pipes
	in    *bufio.Reader
	ended chan struct{} // closed when nothing more comes
	stop  atomic.Bool   // nothing more is read
	out   sync.Mutex
}

func newLink(conn io.ReadWriteCloser, raw net.Conn) *link {
	l := &link{conn: conn, raw: raw, ended: make(chan struct{})}
	l.in = bufio.NewReader(conn)
	return l
}

// write writes bytes as they are.
func (l *link) write(b []byte) error {
	l.out.Lock()
	defer l.out.Unlock()
	_, err := l.conn.Write(b)
	return err
}

// read hands what next reads to take, until the end or until the link is deaf.
func read[T any](l *link, next func() (T, error)) <-chan T {
	in := make(chan T, 8<<10) // what is more than that answers a flood, and nobody wants it
	go func() {
		defer close(in)
		defer func() {
			if !l.stop.Load() {
				close(l.ended)
			}
		}()
		for !l.stop.Load() {
			m, err := next()
			if err != nil {
				return
			}
			select {
			case in <- m:
			default:
			}
		}
	}()
	return in
}

// close ends the connection in good order.
func (l *link) close() { l.conn.Close() }

// cut ends it without a word, of TLS neither.
func (l *link) cut() error {
	if l.raw != nil {
		l.raw.Close()
	}
	l.conn.Close()
	return errOver
}

// reset ends it with a reset.
func (l *link) reset() error {
	if tcp, ok := l.raw.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	return l.cut()
}

// shut ends our direction.
func (l *link) shut() {
	if c, ok := l.conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

// shutIn ends the other direction.
func (l *link) shutIn() {
	c, ok := l.raw.(interface{ CloseRead() error })
	if !ok {
		c, ok = l.conn.(interface{ CloseRead() error })
	}
	if ok {
		c.CloseRead()
	}
}

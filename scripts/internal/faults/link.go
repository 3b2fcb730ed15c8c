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

// A link is one connection to rpcx. A goroutine reads it even while the peer writes.
type link struct {
	conn  io.ReadWriteCloser
	raw   net.Conn // the connection below TLS; nil for pipes
	in    *bufio.Reader
	ended chan struct{} // closed at the end of the input
	stop  atomic.Bool   // reading has stopped
	out   sync.Mutex
}

func newLink(conn io.ReadWriteCloser, raw net.Conn) *link {
	l := &link{conn: conn, raw: raw, ended: make(chan struct{})}
	l.in = bufio.NewReader(conn)
	return l
}

func (l *link) write(b []byte) error {
	l.out.Lock()
	defer l.out.Unlock()
	_, err := l.conn.Write(b)
	return err
}

// read passes the results of next to take until the input ends or the link stops reading.
func read[T any](l *link, next func() (T, error)) <-chan T {
	in := make(chan T, 8<<10) // the rest are responses to a flood, which are not needed
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

// close closes the connection properly.
func (l *link) close() { l.conn.Close() }

// cut closes the connection without a message, even of TLS.
func (l *link) cut() error {
	if l.raw != nil {
		l.raw.Close()
	}
	l.conn.Close()
	return errOver
}

// reset closes the connection with a reset.
func (l *link) reset() error {
	if tcp, ok := l.raw.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	return l.cut()
}

// shut closes the sending direction.
func (l *link) shut() {
	if c, ok := l.conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

// shutIn closes the receiving direction.
func (l *link) shutIn() {
	c, ok := l.raw.(interface{ CloseRead() error })
	if !ok {
		c, ok = l.conn.(interface{ CloseRead() error })
	}
	if ok {
		c.CloseRead()
	}
}

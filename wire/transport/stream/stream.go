// Package stream dials and listens on TCP, TLS and Unix sockets, and connects through proxies.
package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"rpcx/wire"
	"rpcx/wire/syserr"
	"rpcx/wire/transport"
)

// lingerTimeout bounds how long Close reads what the peer still sends: closing
// a socket with unread bytes may take back what was sent last.
const lingerTimeout = 10 * time.Millisecond

// goodbyeTimeout bounds how long Close tries to say goodbye to a peer that
// takes nothing more: package tls would try for 5 s.
const goodbyeTimeout = 200 * time.Millisecond

// Dial connects over tcp, tls or a Unix socket.
func Dial(ctx context.Context, a transport.Address, c transport.Config) (wire.Conn, error) {
	limit := c.ConnectTimeout
	inTime, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := connectStream(c.Watch.Dialling(inTime), a, c)
	if err != nil {
		return nil, transport.DialFault(ctx, a.String(), limit, err)
	}
	return c.Frame(New(conn), "")
}

func connectStream(ctx context.Context, a transport.Address, c transport.Config) (net.Conn, error) {
	if a.Scheme == "unix" {
		if err := checkUnixPath(a.Path); err != nil {
			return nil, err
		}
		return Connect(ctx, c, a, "")
	}
	host, port, err := net.SplitHostPort(a.Host)
	if err == nil && port == "0" {
		err = transport.Usage("%s: port 0 is for listeners only", a)
	}
	if err != nil {
		return nil, err
	}
	if a.Scheme == "tcp" {
		return Connect(ctx, c, a, a.Host)
	}
	cfg, err := c.TLS.Client(serverName(host))
	if err != nil {
		return nil, err
	}
	c.WarnInsecure(a.String())
	conn, err := Connect(ctx, c, a, a.Host)
	if err != nil {
		return nil, err
	}
	secure, began := tls.Client(conn, cfg), time.Now()
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	c.Watch.Secured("", secure.ConnectionState(), !cfg.InsecureSkipVerify, time.Since(began))
	return secure, nil
}

// dialUnix connects to a socket, and tries again while the listener's queue is full: for TCP the system
// waits by itself, for a Unix socket it says EAGAIN at once.
func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", unixName(path))
		if !syserr.Crowded(err) {
			return conn, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// serverName returns the name that a certificate must be for.
func serverName(host string) string {
	if host == "" {
		return "localhost" // where package net leads
	}
	name, _, _ := strings.Cut(host, "%") // no certificate names a zone
	return name
}

// keepAlive returns how an idle TCP connection is probed, and when it is given up.
func keepAlive(every time.Duration) net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: every, Interval: every, Count: 3}
}

// A netStream is a net.Conn whose errors are those of a wire.Conn, and whose Close
// is orderly.
type netStream struct {
	net.Conn
	first  []byte // what was read before Read was called
	insist bool   // a TLS alert about our certificate may come instead of the first bytes
	closed atomic.Bool
	deaf   atomic.Bool // after CloseRead
	left   func()      // gives a client's place back; nil: it had none
}

func New(conn net.Conn) *netStream {
	_, isTLS := conn.(*tls.Conn)
	return &netStream{Conn: conn, insist: isTLS}
}

// Read reads what the peer sends.
func (s *netStream) Read(b []byte) (int, error) {
	if len(s.first) > 0 {
		n := copy(b, s.first)
		s.first = s.first[n:]
		return n, nil
	}
	n, err := s.Conn.Read(b)
	switch {
	case err == nil:
	case s.closed.Load():
		err = &wire.CloseError{Clean: true}
	case s.deaf.Load() && errors.Is(err, io.ErrUnexpectedEOF): // of TLS
		err = io.EOF
	case s.insist:
		err = transport.LateRefusal(err)
	}
	return n, err
}

// Write writes to the peer. Its errors are *wire.CloseError.
func (s *netStream) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	switch {
	case err == nil:
		return n, nil
	case s.closed.Load():
		return n, &wire.CloseError{Clean: true}
	}
	return n, &wire.CloseError{Err: err}
}

// CloseWrite tells the peer that nothing more will be sent.
func (s *netStream) CloseWrite() error {
	if c, ok := s.Conn.(wire.WriteCloser); ok {
		return c.CloseWrite()
	}
	return nil
}

// Remote returns the address of the peer; "" if it has none.
func (s *netStream) Remote() string { return s.Conn.RemoteAddr().String() }

// CloseRead has Read return io.EOF when it has returned what has come so far.
func (s *netStream) CloseRead() error {
	c, ok := s.socket().(wire.ReadCloser)
	if !ok {
		return errors.ErrUnsupported
	}
	s.deaf.Store(true)
	return c.CloseRead()
}

// Gone returns a channel that is closed when the peer neither sends nor
// reads any more: at once where that is so on a Unix socket (Linux), elsewhere
// when the system happens to know. To be called after Read has returned io.EOF,
// and not twice.
func (s *netStream) Gone() <-chan struct{} {
	raw := rawOf(s.Conn)
	if raw == nil {
		return nil // nobody tells
	}
	gone := make(chan struct{})
	if _, now := s.FarEnd(); now {
		close(gone)
		return gone
	}
	go func() { // until then, or until Close
		defer close(gone)
		_ = raw.Read(hungUp)
	}()
	return gone
}

// FarEnd is FarEnd of the connection.
func (s *netStream) FarEnd() (silent, gone bool) { return FarEnd(s.Conn) }

// FarEnd reports, without reading, whether the peer of a connection, which may have layers, has ended its
// direction, and whether it is gone in both; false where the system does not tell.
func FarEnd(conn net.Conn) (silent, gone bool) {
	if raw := rawOf(conn); raw != nil {
		_ = raw.Control(func(fd uintptr) { silent, gone = farEnd(fd) }) // closed: it is known to whoever reads
	}
	return silent, gone
}

// rawOf returns the system's connection below all layers; nil if there is none.
func rawOf(conn net.Conn) syscall.RawConn {
	sc, ok := transport.Layer[syscall.Conn](conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// socket returns what is below TLS, if there is TLS.
func (s *netStream) socket() net.Conn {
	if t, ok := s.Conn.(*tls.Conn); ok {
		return t.NetConn()
	}
	return s.Conn
}

// Close tells the peer that nothing more will be sent, reads for a moment what
// it still sends, and closes.
func (s *netStream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if s.left != nil {
		defer s.left()
	}
	now := time.Now()
	s.Conn.SetWriteDeadline(now.Add(lingerTimeout)) // a Write that waits gives up
	enough := time.AfterFunc(goodbyeTimeout, func() { s.socket().Close() })
	s.CloseWrite()
	enough.Stop()
	s.Conn.SetReadDeadline(time.Now().Add(lingerTimeout))
	io.Copy(io.Discard, io.LimitReader(s.socket(), 1<<20))
	if err := s.Conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("closing: %w", err)
	}
	return nil
}

// Package stream dials and listens on TCP, TLS and Unix sockets. It also connects through proxies.
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

// lingerTimeout bounds how long Close reads bytes that the peer still sends. Closing a socket with unread bytes may
// discard the last sent ones.
const lingerTimeout = 10 * time.Millisecond

// goodbyeTimeout bounds how long Close tries to send a TLS close alert to a peer that does not read. Package tls would
// try for 5 s.
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
		err = wire.Usagef("%s: port 0 is for listeners only", a)
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

// dialUnix connects to a socket. It retries while the listener's queue is full, because a Unix socket, unlike TCP,
// returns EAGAIN instead of waiting.
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

// serverName returns the required name in a certificate.
func serverName(host string) string {
	if host == "" {
		return "localhost" // the host to which package net connects
	}
	name, _, _ := strings.Cut(host, "%") // certificates contain no zones
	return name
}

// keepAlive determines when an idle TCP connection is probed, and when it is closed.
func keepAlive(every time.Duration) net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: every, Interval: every, Count: 3}
}

// A netStream is a net.Conn with the errors of a wire.Conn and a proper Close.
type netStream struct {
	net.Conn
	first  []byte // bytes that were read ahead
	insist bool   // the first bytes may be a TLS alert about the client certificate
	closed atomic.Bool
	deaf   atomic.Bool // set by CloseRead
	left   func()      // frees the client's place; may be nil
}

func New(conn net.Conn) *netStream {
	_, isTLS := conn.(*tls.Conn)
	return &netStream{Conn: conn, insist: isTLS}
}

// Read reads bytes from the peer.
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

// CloseWrite ends the sending direction.
func (s *netStream) CloseWrite() error {
	if c, ok := s.Conn.(wire.WriteCloser); ok {
		return c.CloseWrite()
	}
	return nil
}

// Remote returns the peer's address, or "".
func (s *netStream) Remote() string { return s.Conn.RemoteAddr().String() }

// CloseRead makes Read return io.EOF after the received bytes.
func (s *netStream) CloseRead() error {
	c, ok := s.socket().(wire.ReadCloser)
	if !ok {
		return errors.ErrUnsupported
	}
	s.deaf.Store(true)
	return c.CloseRead()
}

// PeerClosed returns a channel that is closed when the peer has closed both directions. On a Unix socket (Linux), this
// happens at once, and otherwise when the system detects it. It must be called once, after Read has returned io.EOF.
func (s *netStream) PeerClosed() <-chan struct{} {
	raw := rawOf(s.Conn)
	if raw == nil {
		return nil // not supported
	}
	gone := make(chan struct{})
	if _, now := s.FarEnd(); now {
		close(gone)
		return gone
	}
	go func() { // ends then, or at Close
		defer close(gone)
		_ = raw.Read(hungUp)
	}()
	return gone
}

// FarEnd calls the function FarEnd.
func (s *netStream) FarEnd() (silent, gone bool) { return FarEnd(s.Conn) }

// FarEnd reports, without reading, whether the peer has closed its sending direction, and whether it has closed both.
// It returns false if the system does not support this test. conn may have layers.
func FarEnd(conn net.Conn) (silent, gone bool) {
	if raw := rawOf(conn); raw != nil {
		_ = raw.Control(func(fd uintptr) { silent, gone = farEnd(fd) }) // after an error, the socket is closed, which the reader detects
	}
	return silent, gone
}

// rawOf returns the system's connection below all layers, or nil.
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

// socket returns the connection below TLS.
func (s *netStream) socket() net.Conn {
	if t, ok := s.Conn.(*tls.Conn); ok {
		return t.NetConn()
	}
	return s.Conn
}

// Close ends the sending direction, briefly reads the peer's last bytes, and closes.
func (s *netStream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if s.left != nil {
		defer s.left()
	}
	now := time.Now()
	s.Conn.SetWriteDeadline(now.Add(lingerTimeout)) // ends a blocked Write
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

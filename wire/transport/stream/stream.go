// Package stream dials and listens on TCP ports, with or without TLS, and on Unix sockets. It also connects through
// proxies.
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

// lingerTimeout is how long Close reads bytes that the peer is still sending. If a socket is closed while it has unread
// bytes, the bytes that were sent last may be discarded.
const lingerTimeout = 10 * time.Millisecond

// closeAlertTimeout is how long Close tries to send the TLS close alert to a peer that does not read. Package tls would
// try for 5 s.
const closeAlertTimeout = 200 * time.Millisecond

// Dial connects to a TCP or TLS port, or to a Unix socket.
func Dial(ctx context.Context, a transport.Address, c transport.Config) (wire.Conn, error) {
	limit := c.ConnectTimeout
	inTime, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := connectStream(c.Watch.Dialling(inTime), a, c)
	if err != nil {
		return nil, transport.DialFault(ctx, a.String(), limit, err)
	}
	stream := New(conn)
	stream.strict = true
	return c.Frame(stream, ""), nil
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
	explain := transport.NoteRequests(cfg)
	secure, began := tls.Client(&tlsSocket{Conn: conn}, cfg), time.Now()
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, explain(err)
	}
	c.Watch.Secured("", secure.ConnectionState(), !cfg.InsecureSkipVerify, time.Since(began))
	return secure, nil
}

// dialUnix connects to a socket. While the listener's queue is full, it tries again, because a Unix socket returns
// EAGAIN where TCP would wait.
func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", unixName(path))
		if !syserr.Crowded(err) {
			return conn, err
		}
		if !wire.Sleep(ctx, pause) {
			return nil, ctx.Err()
		}
	}
}

// serverName returns the name that the server's certificate must contain.
func serverName(host string) string {
	if host == "" {
		return "localhost" // where package net connects
	}
	name, _, _ := strings.Cut(host, "%") // certificates do not contain zones
	return name
}

// keepAlive returns when an idle TCP connection is probed, and when it is closed.
func keepAlive(every time.Duration) net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: every, Interval: every, Count: 3}
}

// A tlsSocket is the connection below TLS. It records its end, because package tls accepts an end without close_notify.
type tlsSocket struct {
	net.Conn
	ended bool // used only by the reader
}

// Read reads encrypted bytes.
func (t *tlsSocket) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.ended = t.ended || err == io.EOF
	return n, err
}

// NetConn returns the connection without the record of its end.
func (t *tlsSocket) NetConn() net.Conn { return t.Conn }

// errNoCloseNotify reports an end that anyone on the network can cause (RFC 8446, section 6.1).
var errNoCloseNotify = errors.New("the peer closed the connection without TLS close_notify")

// A netStream is a net.Conn that returns the errors of a wire.Conn and closes properly.
type netStream struct {
	net.Conn
	first      []byte     // bytes that have been read ahead
	tls        *tlsSocket // nil without TLS
	strict     bool       // an end without close_notify is a failure. A listener is not strict: clients such as ncat end their sending direction without it
	mayBeAlert bool       // the first bytes from the peer may be a TLS alert about the client certificate
	closed     atomic.Bool
	readClosed atomic.Bool // set by CloseRead
	freePlace  func()      // frees the connection's place on the listener; may be nil
}

func New(conn net.Conn) *netStream {
	_, isTLS := conn.(*tls.Conn)
	below, _ := transport.Layer[*tlsSocket](conn)
	return &netStream{Conn: conn, tls: below, mayBeAlert: isTLS}
}

// Read reads from the peer.
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
	case s.readClosed.Load() && (err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)): // of TLS
		err = io.EOF
	case s.strict && s.tls != nil && s.tls.ended:
		err = &wire.CloseError{Err: errNoCloseNotify}
	case s.mayBeAlert:
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

// CloseRead makes Read return io.EOF after the bytes that have arrived.
func (s *netStream) CloseRead() error {
	c, ok := s.socket().(wire.ReadCloser)
	if !ok {
		return errors.ErrUnsupported
	}
	s.readClosed.Store(true)
	return c.CloseRead()
}

// PeerClosed returns a channel that is closed when the peer has closed both directions. For a Unix socket on Linux this
// happens at once, and otherwise when the system notices it. PeerClosed must be called only once, after Read has
// returned io.EOF.
func (s *netStream) PeerClosed() <-chan struct{} {
	raw := rawOf(s.Conn)
	if raw == nil {
		return nil // not supported
	}
	gone := make(chan struct{})
	if _, now := s.CloseState(); now {
		close(gone)
		return gone
	}
	go func() { // ends when the channel is closed, or at Close
		defer close(gone)
		_ = raw.Read(func(fd uintptr) bool { // is called again after each change
			_, now := closeState(fd)
			return now
		})
	}()
	return gone
}

// CloseState implements wire.PeerState.
func (s *netStream) CloseState() (halfClosed, closed bool) { return CloseState(s.Conn) }

// CloseState reports, without reading, whether the peer has closed its sending direction, and whether it has closed both
// directions. It returns false if the system does not support the test. conn may consist of several layers.
func CloseState(conn net.Conn) (halfClosed, closed bool) {
	if raw := rawOf(conn); raw != nil {
		_ = raw.Control(func(fd uintptr) { halfClosed, closed = closeState(fd) }) // an error means that the socket is closed, which the reader will notice
	}
	return halfClosed, closed
}

// rawOf returns the system's connection below all layers of conn, or nil.
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
	if s.tls != nil {
		return s.tls.Conn
	}
	if t, ok := s.Conn.(*tls.Conn); ok { // to a proxy
		return t.NetConn()
	}
	return s.Conn
}

// Close closes the sending direction, briefly reads the peer's last bytes, and then closes the connection.
func (s *netStream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if s.freePlace != nil {
		defer s.freePlace()
	}
	now := time.Now()
	s.Conn.SetWriteDeadline(now.Add(lingerTimeout)) // interrupts a blocked Write
	enough := time.AfterFunc(closeAlertTimeout, func() { s.socket().Close() })
	s.CloseWrite()
	enough.Stop()
	s.Conn.SetReadDeadline(time.Now().Add(lingerTimeout))
	io.Copy(io.Discard, io.LimitReader(s.socket(), 1<<20))
	if err := s.Conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("closing: %w", err)
	}
	return nil
}

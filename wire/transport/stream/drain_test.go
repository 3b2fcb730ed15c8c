package stream

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// After Drain, the connections that clients have already made are accepted, no matter how long the caller of Accept takes for each.
func TestDrainWithASlowServer(t *testing.T) {
	l, err := Listen(t.Context(), transport.Address{Scheme: "tcp", Host: "127.0.0.1:0"}, transport.Config{})
	testkit.OK(t, err)
	defer l.Close()
	s := l.(*streamListener)
	for range 3 {
		c, err := net.Dial("tcp", s.Addr().String())
		testkit.OK(t, err)
		defer c.Close()
	}
	s.Drain()
	for range 3 {
		s.Listener.(deadliner).SetDeadline(time.Unix(1, 0)) // as if the caller had taken longer than drainTimeout
		conn, err := s.accept()
		testkit.OK(t, err)
		conn.Close()
	}
	if _, err := s.accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// A listener fails a number of times before it has a connection.
type failingListener struct {
	net.Listener
	fails int
	conn  net.Conn
}

func (l *failingListener) Accept() (net.Conn, error) {
	if l.fails--; l.fails >= 0 {
		return nil, errors.New("too many open files")
	}
	return l.conn, nil
}

func (l *failingListener) Close() error { return net.ErrClosed }

// The listener continues after an error of the system. While it waits, it can be closed.
func TestAcceptAfterAnError(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	var warned []string
	c := transport.Config{Warn: func(line string) { warned = append(warned, line) }}
	l := newStreamListener(&failingListener{fails: 2, conn: near}, nil, "tcp://h:1", c)
	if conn, err := l.accept(); err != nil || conn.Conn != near || strings.Join(warned, "|") != "tcp://h:1: too many open files|tcp://h:1: too many open files" {
		t.Error(conn, err, warned)
	}
	if err := New(near).CloseRead(); !errors.Is(err, errors.ErrUnsupported) { // such as a connection through SOCKS
		t.Error(err)
	}
	c.Warn = func(string) { l.end() }
	l = newStreamListener(&failingListener{fails: 1, conn: near}, nil, "tcp://h:1", c)
	if conn, err := l.accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(conn, err)
	}
}

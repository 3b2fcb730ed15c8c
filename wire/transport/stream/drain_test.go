package stream

import (
	"errors"
	"net"
	"testing"
	"time"

	"rpcx/wire/transport"
)

// After Drain, the connections that clients have already made are accepted, no matter how long the caller of Accept takes for each.
func TestDrainWithASlowServer(t *testing.T) {
	l, err := Listen(t.Context(), transport.Address{Scheme: "tcp", Host: "127.0.0.1:0"}, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := l.(*streamListener)
	for range 3 {
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	s.Drain()
	for range 3 {
		s.Listener.(deadliner).SetDeadline(time.Unix(1, 0)) // as if the caller had taken longer than drainTimeout
		conn, err := s.accept()
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if _, err := s.accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

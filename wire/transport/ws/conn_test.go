package ws

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// wsPair returns both ends of a WebSocket.
func wsPair(t *testing.T, c transport.Config) (client, server *Conn) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	c = c.WithDefaults()
	accepted := make(chan *Conn, 1)
	s := &http.Server{
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, t, c) },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := Accept(w, r, r.Context().Value(t).(net.Conn), c)
			testkit.Expect(t, "the error of Accept", err, nil)
			accepted <- conn
		}),
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	go s.Serve(wrapping{l})
	t.Cleanup(func() { s.Close() })
	conn, err := Dial(t.Context(), transport.Address{Scheme: "ws", Host: l.Addr().String()}, c)
	testkit.OK(t, err)
	client, server = conn.(*Conn), <-accepted
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// wrapping is a listener whose connections can become WebSockets.
type wrapping struct{ net.Listener }

func (w wrapping) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return Wrap(conn, nil), nil
}

// The connection does not read ahead and has no buffer of its own before the handshake ends, or if the reader has a buffer.
func TestWSReadsAheadOnlyForItself(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		n := &wsNet{Conn: readOnly{Reader: strings.NewReader("abcd")}, ahead: ahead}
		b := make([]byte, 1)
		if got, err := n.Read(b); err != nil || string(b[:got]) != "a" || (n.in != nil) != ahead || ahead && n.in.Buffered() != 3 {
			t.Errorf("%v: %q, %v", ahead, b[:got], err)
		}
		if rest, err := io.ReadAll(n); err != nil || string(rest) != "bcd" {
			t.Errorf("%v: then %q, %v", ahead, rest, err)
		}
	}
}

type readOnly struct {
	net.Conn
	io.Reader
}

func (r readOnly) Read(b []byte) (int, error) { return r.Reader.Read(b) }

// The buffer for a large message is released.
func TestWSKeepsNoLargeBuffer(t *testing.T) {
	w := &Conn{c: transport.Config{Options: wire.Options{MaxMessage: 32 << 20}}}
	for i, n := range []int{20 << 20, 2, 2} {
		if msg, err := w.read(bytes.NewReader(make([]byte, n))); err != nil || len(msg) != n {
			t.Fatalf("%d bytes: %d, %v", n, len(msg), err)
		}
		if got := cap(w.buf); i > 1 && got > largeMessage {
			t.Errorf("a buffer of %d bytes is retained", got)
		}
	}
}

type counting struct {
	net.Conn
	writes atomic.Int32
}

func (c *counting) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

func TestWSBuffered(t *testing.T) {
	c, far := wsPair(t, transport.Config{})
	count := &counting{Conn: c.net.Conn}
	c.net.Conn = count
	for range 100 {
		testkit.OK(t, c.SendBuffered([]byte(`{"jsonrpc":"2.0","method":"x"}`)))
	}
	testkit.Expect(t, "writes before Flush", count.writes.Load(), 0)
	testkit.OK(t, c.Flush())
	testkit.Expect(t, "writes of 100 small messages", count.writes.Load(), 1)
	for range 100 {
		testkit.Recv(t, far)
	}
	// A pong is sent at once, without waiting for Flush.
	var wg sync.WaitGroup
	wg.Go(func() { c.Recv() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	wg.Go(func() { far.Recv() })
	testkit.OK(t, far.ws.Ping(ctx))
	c.Close()
	far.Close()
	wg.Wait()
}

// Close ends a write that waits because the peer does not read.
func TestWSCloseEndsAWriteThatWaits(t *testing.T) {
	c, _ := wsPair(t, transport.Config{CloseTimeout: 200 * time.Millisecond})
	got := make(chan error, 1)
	go func() {
		for {
			if err := c.Send(make([]byte, 1<<20)); err != nil {
				got <- err
				return
			}
		}
	}()
	for c.net.writable() { // until a write would block
		runtime.Gosched()
	}
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > 4*time.Second { // the library waits 5 s
		t.Errorf("Close took %v", took)
	}
	var ce *wire.CloseError
	if err := <-got; !errors.As(err, &ce) || ce.Code != 0 || !ce.Clean {
		t.Errorf("Send: %v", err)
	}
	if err := c.Send([]byte("1")); err == nil {
		t.Error("Send succeeded after Close")
	}
}

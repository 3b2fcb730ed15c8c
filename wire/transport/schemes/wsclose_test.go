package schemes

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// The peer sends nothing while the connection stays open.
func TestWSCloseOfSilentPeer(t *testing.T) {
	silent := func(t *testing.T, limit time.Duration) wire.Conn {
		hold := make(chan struct{})
		url := rawWS(t, func(net.Conn, *bufio.Reader) { <-hold })
		t.Cleanup(func() { close(hold) })
		return dialed(t, url, transport.Config{CloseTimeout: limit})
	}
	t.Run("without a pending Recv", func(t *testing.T) {
		noLeaks(t)
		c := silent(t, 0)
		within(t, soon, "Close", func() { c.Close(); c.Close() })
	})
	t.Run("with a pending Recv", func(t *testing.T) {
		noLeaks(t)
		c := silent(t, 200*time.Millisecond)
		got := recvError(c)
		within(t, soon, "Close", func() { c.(wire.CloserWith).CloseWith(4000, strings.Repeat("é", 200)) })
		wantClose(t, <-got, 0, true)
	})
	t.Run("the peer never stops sending", func(t *testing.T) {
		noLeaks(t)
		url := rawWS(t, func(c net.Conn, _ *bufio.Reader) {
			for some := frame(finText, strings.Repeat("x", 10_000)); ; {
				if _, err := io.WriteString(c, some); err != nil {
					return
				}
			}
		})
		c := dialed(t, url, transport.Config{CloseTimeout: 200 * time.Millisecond})
		within(t, soon, "Close", func() { c.Close() })
	})
	t.Run("while the function of OnIdle blocks", func(t *testing.T) {
		noLeaks(t)
		c := silent(t, 200*time.Millisecond)
		stuck, free := make(chan struct{}), make(chan struct{})
		c.(wire.Idler).OnIdle(func() { close(stuck); <-free })
		got := recvError(c)
		<-stuck
		within(t, soon, "Close", func() { c.Close() })
		close(free)
		wantClose(t, <-got, 0, true)
	})
}

func TestWSCloseWith(t *testing.T) {
	noLeaks(t)
	l := listening(t, "ws://127.0.0.1:0/", transport.Config{})
	c := dialed(t, l.Endpoint(), transport.Config{})
	far := mustAccept(t, l)
	got := recvError(far)
	c.(wire.CloserWith).CloseWith(4001, strings.Repeat("é", 200))
	ce := wantClose(t, <-got, 4001, false)
	testkit.Expect(t, "reason", ce.Reason, strings.Repeat("é", 61))
}

func TestWSPing(t *testing.T) {
	const every = 30 * time.Millisecond
	t.Run("with responses", func(t *testing.T) {
		noLeaks(t)
		pings := make(chan struct{}, 100)
		url := rawWS(t, func(c net.Conn, r *bufio.Reader) {
			for range 2 {
				_, payload, err := readFrame(r)
				if err != nil {
					return
				}
				io.WriteString(c, frame(finPong, string(payload)))
				pings <- struct{}{}
			}
			io.WriteString(c, frame(finText, "1"))
			readFrame(r)
		})
		c := dialed(t, url, transport.Config{Ping: 2 * time.Second, CloseTimeout: time.Second})
		if got, err := c.Recv(); err != nil || string(got) != "1" || len(pings) != 2 {
			t.Errorf("Recv: %q %v after %d pings", got, err, len(pings))
		}
		c.Close()
	})
	t.Run("without a response", func(t *testing.T) {
		noLeaks(t)
		url := rawWS(t, func(c net.Conn, r *bufio.Reader) { io.Copy(io.Discard, r) })
		c := dialed(t, url, transport.Config{Ping: every, CloseTimeout: time.Second})
		var err error
		returns(t, "Recv", func() { _, err = c.Recv() })
		if ce := wantClose(t, err, 0, false); ce.Err == nil || ce.Err.Error() != "no response to a keep-alive ping for 30ms" {
			t.Errorf("the error is %v", ce.Err)
		}
		if err := c.Send([]byte("1")); err == nil || !strings.Contains(err.Error(), "keep-alive") {
			t.Errorf("Send: %v", err)
		}
		c.Close()
	})
	t.Run("without a pending Recv", func(t *testing.T) {
		noLeaks(t)
		pinged := make(chan struct{}, 100)
		url := rawWS(t, func(c net.Conn, r *bufio.Reader) {
			for range 4 { // one of these writes must fail
				if _, _, err := readFrame(r); err != nil {
					return
				}
				pinged <- struct{}{}
			}
			io.WriteString(c, frame(finText, "1"))
			readFrame(r)
		})
		c := dialed(t, url, transport.Config{Ping: every, CloseTimeout: 50 * time.Millisecond})
		for range 4 {
			<-pinged
		}
		wantRecv(t, c, "1")
		c.Close()
	})
}

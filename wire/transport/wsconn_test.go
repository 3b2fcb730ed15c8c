package transport

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rpcx/wire"
)

func TestWSSizes(t *testing.T) {
	noLeaks(t)
	l := mustListen(t, "ws://127.0.0.1:0/", Config{})
	echo(t, l)
	c := mustDial(t, l.Endpoint(), Config{})
	defer c.Close()
	for _, n := range []int{0, 1, 125, 126, 1 << 10, 32 << 10, 33_000, 63 << 10, 64 << 10, 65 << 10, 65535, 65536, 1 << 20, 20 << 20, 5} {
		msg := bytes.Repeat([]byte("x"), n)
		errs := make(chan error, 1)
		go func() { errs <- c.Send(msg) }()
		got, err := c.Recv()
		if err != nil || !bytes.Equal(got, msg) {
			t.Fatalf("%d bytes: got %d, %v", n, len(got), err)
		}
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	// The buffer of a large message does not stay.
	for range 2 {
		if err := c.Send([]byte("{}")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	if got := cap(c.(*wsConn).buf); got > largeMessage {
		t.Errorf("a buffer of %d bytes is kept", got)
	}
}

func TestWSTooLarge(t *testing.T) {
	for name, max := range map[string]int{"64 MiB": 0, "1000 bytes": 1000} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			limit := wire.Options{MaxMessage: max}.WithDefaults().MaxMessage
			told := make(chan []byte, 1)
			url := rawWS(t, func(c net.Conn, r *bufio.Reader) {
				var wg sync.WaitGroup
				wg.Go(func() {
					io.WriteString(c, frame(finText, strings.Repeat("a", limit)))
					io.WriteString(c, frame(finText, strings.Repeat("b", limit+1_000_000)))
					io.WriteString(c, frame(finClose, closing(1000, "")))
				})
				_, payload, _ := readFrame(r)
				told <- payload
				wg.Wait()
			})
			c := mustDial(t, url, Config{Options: wire.Options{MaxMessage: max}})
			if got, err := c.Recv(); err != nil || len(got) != limit {
				t.Fatalf("a message of the limit's size: %d bytes, %v", len(got), err)
			}
			_, err := c.Recv()
			wantFault(t, err, wire.Protocol, fmt.Sprint(limit), "--max-message")
			within(t, 3*time.Second, "Close", func() { c.Close() })
			if got := <-told; !strings.HasPrefix(string(got), closing(1009, "")) {
				t.Errorf("the far side was told %q, not 1009", got)
			}
		})
	}
}

// counting counts writes.
type counting struct {
	net.Conn
	writes atomic.Int32
}

func (c *counting) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

func TestWSBuffered(t *testing.T) {
	noLeaks(t)
	l := mustListen(t, "ws://127.0.0.1:0/", Config{})
	c := mustDial(t, l.Endpoint(), Config{}).(*wsConn)
	far := mustAccept(t, l)
	count := &counting{Conn: c.net.Conn}
	c.net.Conn = count
	for range 100 {
		if err := c.SendBuffered([]byte(`{"jsonrpc":"2.0","method":"x"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if n := count.writes.Load(); n != 0 {
		t.Errorf("%d writes before Flush", n)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := count.writes.Load(); n != 1 {
		t.Errorf("100 small messages left in %d writes, want 1", n)
	}
	for range 100 {
		if _, err := far.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	// A pong does not wait for anyone's Flush.
	var wg sync.WaitGroup
	wg.Go(func() { c.Recv() })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	wg.Go(func() { far.Recv() })
	if err := far.(*wsConn).ws.Ping(ctx); err != nil {
		t.Errorf("ping: %v", err)
	}
	c.Close()
	far.Close()
	wg.Wait()
}

func TestWSIdle(t *testing.T) {
	noLeaks(t)
	next := make(chan string)
	url := rawWS(t, func(c net.Conn, r *bufio.Reader) {
		for s := range next {
			io.WriteString(c, s)
		}
		readFrame(r)
	})
	c := mustDial(t, url, Config{CloseTimeout: 50 * time.Millisecond})
	idle := 0
	three := frame(finText, "1") + frame(finText, "2") + frame(finText, "3")
	c.(wire.Idler).OnIdle(func() {
		idle++
		if three != "" {
			next <- three // only now: it cannot have come with the handshake
			three = ""
		}
	})
	for i := range 3 {
		if _, err := c.Recv(); err != nil {
			t.Fatal(err)
		}
		if idle != 1 {
			t.Fatalf("after message %d: idle %d times, want once, before the first", i+1, idle)
		}
	}
	close(next)
	c.Close()
	if idle != 1 {
		t.Error("Close called OnIdle's function")
	}
}

// A far side that has gone silent, with its connection still there.
func TestWSCloseOfSilentPeer(t *testing.T) {
	silent := func(t *testing.T, limit time.Duration) wire.Conn {
		hold := make(chan struct{})
		url := rawWS(t, func(net.Conn, *bufio.Reader) { <-hold })
		t.Cleanup(func() { close(hold) })
		return mustDial(t, url, Config{CloseTimeout: limit})
	}
	t.Run("nobody receives", func(t *testing.T) {
		noLeaks(t)
		c := silent(t, 0)
		within(t, 3*time.Second, "Close", func() { c.Close(); c.Close() })
	})
	t.Run("someone receives", func(t *testing.T) {
		noLeaks(t)
		c := silent(t, 200*time.Millisecond)
		got := make(chan error, 1)
		go func() { _, err := c.Recv(); got <- err }()
		within(t, 3*time.Second, "Close", func() { c.(wire.CloserWith).CloseWith(4000, strings.Repeat("é", 200)) })
		wantClose(t, <-got, 0, true)
	})
	t.Run("someone sends", func(t *testing.T) {
		noLeaks(t)
		c := silent(t, 200*time.Millisecond)
		got := make(chan error, 1)
		go func() {
			for {
				if err := c.Send(make([]byte, 1<<20)); err != nil {
					got <- err
					return
				}
			}
		}()
		n := c.(*wsConn).net
		for n.writable() { // until a write waits for the far side
			runtime.Gosched()
		}
		within(t, 3*time.Second, "Close", func() { c.Close() })
		wantClose(t, <-got, 0, true)
		if err := c.Send([]byte("1")); err == nil {
			t.Error("Send works after Close")
		}
	})
	t.Run("someone is stuck in OnIdle", func(t *testing.T) {
		noLeaks(t)
		c := silent(t, 200*time.Millisecond)
		stuck, free := make(chan struct{}), make(chan struct{})
		c.(wire.Idler).OnIdle(func() { close(stuck); <-free })
		got := make(chan error, 1)
		go func() { _, err := c.Recv(); got <- err }()
		<-stuck
		within(t, 3*time.Second, "Close", func() { c.Close() })
		close(free)
		wantClose(t, <-got, 0, true)
	})
}

func TestWSCloseWith(t *testing.T) {
	noLeaks(t)
	l := mustListen(t, "ws://127.0.0.1:0/", Config{})
	c := mustDial(t, l.Endpoint(), Config{})
	far := mustAccept(t, l)
	got := make(chan error, 1)
	go func() { _, err := far.Recv(); got <- err }()
	c.(wire.CloserWith).CloseWith(4001, strings.Repeat("é", 200))
	ce := wantClose(t, <-got, 4001, false)
	if ce.Reason != strings.Repeat("é", 61) {
		t.Errorf("reason %q", ce.Reason)
	}
}

func TestWSPing(t *testing.T) {
	const every = 30 * time.Millisecond
	t.Run("answered", func(t *testing.T) {
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
		c := mustDial(t, url, Config{Ping: time.Second, CloseTimeout: time.Second})
		if got, err := c.Recv(); err != nil || string(got) != "1" || len(pings) != 2 {
			t.Errorf("Recv: %q %v after %d pings", got, err, len(pings))
		}
		c.Close()
	})
	t.Run("not answered", func(t *testing.T) {
		noLeaks(t)
		url := rawWS(t, func(c net.Conn, r *bufio.Reader) { io.Copy(io.Discard, r) })
		c := mustDial(t, url, Config{Ping: every, CloseTimeout: time.Second})
		var err error
		within(t, 10*time.Second, "Recv", func() { _, err = c.Recv() })
		if ce := wantClose(t, err, 0, false); ce.Err == nil || ce.Err.Error() != "no answer to a keep-alive ping for 30ms" {
			t.Errorf("the reason is %v", ce.Err)
		}
		if err := c.Send([]byte("1")); err == nil || !strings.Contains(err.Error(), "keep-alive") {
			t.Errorf("Send: %v", err)
		}
		c.Close()
	})
	t.Run("nobody receives", func(t *testing.T) {
		noLeaks(t)
		pinged := make(chan struct{}, 100)
		url := rawWS(t, func(c net.Conn, r *bufio.Reader) {
			for range 4 { // more than enough for a failure
				if _, _, err := readFrame(r); err != nil {
					return
				}
				pinged <- struct{}{}
			}
			io.WriteString(c, frame(finText, "1"))
			readFrame(r)
		})
		c := mustDial(t, url, Config{Ping: every, CloseTimeout: 50 * time.Millisecond})
		for range 4 {
			<-pinged
		}
		if got, err := c.Recv(); err != nil || string(got) != "1" {
			t.Errorf("Recv: %q %v", got, err)
		}
		c.Close()
	})
}

func TestWSManySenders(t *testing.T) {
	noLeaks(t)
	l := mustListen(t, "ws://127.0.0.1:0/", Config{})
	echo(t, l)
	c := mustDial(t, l.Endpoint(), Config{})
	var wg sync.WaitGroup
	const senders, each = 8, 50
	for i := range senders {
		wg.Go(func() {
			for j := range each {
				if err := c.Send(fmt.Appendf(nil, `{"from":%d,"n":%d,"pad":"%s"}`, i, j, strings.Repeat("p", i*1000))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	next := [senders]int{}
	for range senders * each {
		got, err := c.Recv()
		if err != nil {
			t.Fatal(err)
		}
		var i, j int
		fmt.Sscanf(string(got), `{"from":%d,"n":%d`, &i, &j)
		if next[i] != j || !bytes.HasSuffix(got, []byte(`p"}`)) && i > 0 {
			t.Fatalf("of %d came %d, want %d: %.50s", i, j, next[i], got)
		}
		next[i]++
	}
	wg.Wait()
	c.Close()
}

func TestWSOverUnixSocket(t *testing.T) {
	noLeaks(t)
	path := socketPath(t)
	l := mustListen(t, "ws+unix:"+path+":/rpc", Config{})
	if want := "ws+unix:" + path + ":/rpc"; l.Endpoint() != want {
		t.Errorf("Endpoint %q, want %q", l.Endpoint(), want)
	}
	echo(t, l)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	c := mustDial(t, l.Endpoint(), Config{})
	if err := c.Send([]byte("[]")); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Recv(); err != nil || string(got) != "[]" {
		t.Errorf("%q %v", got, err)
	}
	c.Close()
}

// What is received costs no memory: not in our code, nor in the library's.
func TestWSReceivesWithoutAllocating(t *testing.T) {
	noLeaks(t)
	const n, warm = 10_000, 100
	msg := frame(finText, `{"jsonrpc":"2.0","method":"s","params":{"r":"`+strings.Repeat("x", 240-48)+`"}}`)
	var all strings.Builder
	for range n + warm {
		all.WriteString(msg)
	}
	text := all.String()
	url := rawWS(t, func(c net.Conn, r *bufio.Reader) {
		io.WriteString(c, text)
		readFrame(r)
	})
	c := mustDial(t, url, Config{CloseTimeout: 50 * time.Millisecond})
	c.(wire.Idler).OnIdle(func() {})
	receive := func(n int) {
		for range n {
			if _, err := c.Recv(); err != nil {
				t.Fatal(err)
			}
		}
	}
	receive(warm)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	receive(n)
	runtime.ReadMemStats(&after)
	got := after.Mallocs - before.Mallocs
	t.Logf("%d allocations for %d messages of %d bytes", got, n, len(msg))
	if got > n/100 {
		t.Errorf("%d allocations for %d messages", got, n)
	}
	c.Close()
}

func TestWSSubprotocols(t *testing.T) {
	noLeaks(t)
	for name, tt := range map[string]struct {
		offer  []string
		header http.Header
		warned bool
		fails  bool
		picks  string
	}{
		"picked":            {offer: []string{"a.v1", "b"}, picks: "b"},
		"none picked":       {offer: []string{"a.v1"}, warned: true},
		"none offered":      {},
		"in a header":       {header: http.Header{"Sec-Websocket-Protocol": {"x, y"}}, picks: "y"},
		"one never offered": {offer: []string{"a.v1"}, picks: "z", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			offered := make(chan string, 1)
			addr := rawServer(t, func(c net.Conn, r *bufio.Reader, req *http.Request) {
				offered <- strings.Join(req.Header["Sec-Websocket-Protocol"], "|")
				extra := ""
				if tt.picks != "" {
					extra = "Sec-WebSocket-Protocol: " + tt.picks + "\r\n"
				}
				io.WriteString(c, switching(req, extra))
				if !tt.fails {
					readFrame(r)
				}
			})
			var warned recorder
			c, err := Dial(t.Context(), mustParse(t, "ws://"+addr), Config{
				Subprotocols: tt.offer, Header: tt.header, Warn: warned.warn, CloseTimeout: 50 * time.Millisecond})
			if tt.fails {
				wantFault(t, err, wire.Protocol, "handshake", "z")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
			want := strings.Join(tt.offer, ",")
			if tt.header != nil {
				want = "x,y"
			}
			if got := <-offered; got != want {
				t.Errorf("offered %q, want %q", got, want)
			}
			if got := warned.String() != ""; got != tt.warned {
				t.Errorf("warned %q", warned.String())
			}
		})
	}
}

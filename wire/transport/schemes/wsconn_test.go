package schemes

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func TestWSSizes(t *testing.T) {
	noLeaks(t)
	l := listening(t, "ws://127.0.0.1:0/", transport.Config{})
	echo(t, l)
	c := dialed(t, l.Endpoint(), transport.Config{})
	defer c.Close()
	for _, n := range []int{0, 1, 125, 126, 1 << 10, 32 << 10, 33_000, 63 << 10, 64 << 10, 65 << 10, 65535, 65536, 1 << 20, 20 << 20, 5} {
		wantEcho(t, c, strings.Repeat("x", n))
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
			c := dialed(t, url, transport.Config{Options: wire.Options{MaxMessage: max}})
			if got, err := c.Recv(); err != nil || len(got) != limit {
				t.Fatalf("a message of the limit's size: %d bytes, %v", len(got), err)
			}
			_, err := c.Recv()
			wantFault(t, err, wire.Protocol, fmt.Sprint(limit), "--max-message")
			within(t, soon, "Close", func() { c.Close() })
			if got := <-told; !strings.HasPrefix(string(got), closing(1009, "")) {
				t.Errorf("the peer got the close code %q, want 1009", got)
			}
		})
	}
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
	c := dialed(t, url, transport.Config{CloseTimeout: 50 * time.Millisecond})
	idle := 0
	three := frame(finText, "1") + frame(finText, "2") + frame(finText, "3")
	c.(wire.Idler).OnIdle(func() {
		idle++
		if three != "" {
			next <- three // if sent earlier, it could arrive with the handshake
			three = ""
		}
	})
	for i := range 3 {
		testkit.Recv(t, c)
		if idle != 1 {
			t.Fatalf("after message %d: OnIdle was called %d times, want once, before the first", i+1, idle)
		}
	}
	close(next)
	c.Close()
	testkit.Expect(t, "calls of OnIdle's function", idle, 1)
}

func TestWSManySenders(t *testing.T) {
	noLeaks(t)
	l := listening(t, "ws://127.0.0.1:0/", transport.Config{})
	echo(t, l)
	c := dialed(t, l.Endpoint(), transport.Config{})
	var wg sync.WaitGroup
	const senders, each = 8, 50
	for i := range senders {
		wg.Go(func() {
			for j := range each {
				testkit.Expect(t, "Send", c.Send(fmt.Appendf(nil, `{"from":%d,"n":%d,"pad":"%s"}`, i, j, strings.Repeat("p", i*1000))), nil)
			}
		})
	}
	next := [senders]int{}
	for range senders * each {
		got := testkit.Recv(t, c)
		var i, j int
		fmt.Sscanf(got, `{"from":%d,"n":%d`, &i, &j)
		if next[i] != j || !strings.HasSuffix(got, `p"}`) && i > 0 {
			t.Fatalf("sender %d: got message %d, want %d: %.50s", i, j, next[i], got)
		}
		next[i]++
	}
	wg.Wait()
	c.Close()
}

func TestWSOverUnixSocket(t *testing.T) {
	noLeaks(t)
	path := socketPath(t)
	l := listening(t, "ws+unix:"+path+":/rpc", transport.Config{})
	if want := "ws+unix:" + path + ":/rpc"; l.Endpoint() != want {
		t.Errorf("Endpoint %q, want %q", l.Endpoint(), want)
	}
	echo(t, l)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	c := dialed(t, l.Endpoint(), transport.Config{})
	wantEcho(t, c, "[]")
	c.Close()
}

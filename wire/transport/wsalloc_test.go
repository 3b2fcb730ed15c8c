package transport

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
)

// Until the handshake is over, and where who reads has a buffer of its own, nothing is read ahead, and no memory is
// there for it.
func TestWSReadsAheadOnlyForItself(t *testing.T) {
	for _, c := range []struct {
		direct, begun bool
		ahead         int
	}{{false, false, 0}, {true, false, 0}, {true, true, 0}, {false, true, 3}} {
		n := &wsNet{Conn: readOnly{Reader: strings.NewReader("abcd")}, direct: c.direct, begun: c.begun}
		b := make([]byte, 1)
		if got, err := n.Read(b); err != nil || string(b[:got]) != "a" || len(n.in) != c.ahead || (n.buffer != nil) != (c.ahead > 0) {
			t.Errorf("%+v: %q, %d bytes ahead, %v", c, b[:got], len(n.in), err)
		}
		if rest, err := io.ReadAll(n); err != nil || string(rest) != "bcd" {
			t.Errorf("%+v: then %q, %v", c, rest, err)
		}
	}
}

type readOnly struct {
	net.Conn
	io.Reader
}

func (r readOnly) Read(b []byte) (int, error) { return r.Reader.Read(b) }

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

// How long a message of 240 bytes takes to come in; scripts/bench has the
// comparison with the library alone.
func BenchmarkWSRecv(b *testing.B) {
	l, err := Listen(b.Context(), Address{Scheme: "ws", Host: "127.0.0.1:0"}, Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	a, _ := Parse(l.Endpoint())
	c, err := Dial(b.Context(), a, Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	far, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		defer far.Close()
		msg := bytes.Repeat([]byte("x"), 240)
		for far.(wire.Batcher).SendBuffered(msg) == nil {
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Recv(); err != nil {
			b.Fatal(err)
		}
	}
}

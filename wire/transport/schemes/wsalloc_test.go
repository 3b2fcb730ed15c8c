package schemes

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
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// Neither rpcx nor the library allocates memory to receive a message.
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
	c := dialed(t, url, transport.Config{CloseTimeout: 50 * time.Millisecond})
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

// BenchmarkWSRecv measures receiving a message of 240 bytes. scripts/bench compares rpcx with the library.
func BenchmarkWSRecv(b *testing.B) {
	l, err := Listen(b.Context(), transport.Address{Scheme: "ws", Host: "127.0.0.1:0"}, transport.Config{})
	testkit.OK(b, err)
	defer l.Close()
	a, _ := transport.Parse(l.Endpoint())
	c, err := Dial(b.Context(), a, transport.Config{})
	testkit.OK(b, err)
	defer c.Close()
	far, err := l.Accept()
	testkit.OK(b, err)
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

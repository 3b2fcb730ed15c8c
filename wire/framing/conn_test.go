package framing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

func TestWrittenBytes(t *testing.T) {
	pretty := "{\r\n  \"a\" : [1, 2]\n}"
	for name, want := range map[string]string{
		"line":      "{\"a\":1}\n{\"a\":[1,2]}\n",
		"header":    "Content-Length: 7\r\n\r\n{\"a\":1}Content-Length: 19\r\n\r\n" + pretty,
		"nul":       "{\"a\":1}\x00" + pretty + "\x00",
		"seq":       "\x1e{\"a\":1}\n\x1e{\"a\":[1,2]}\n",
		"netstring": "7:{\"a\":1},19:" + pretty + ",",
		"varint":    "\x07{\"a\":1}\x13" + pretty,
		"concat":    "{\"a\":1}\n{\"a\":[1,2]}\n",
	} {
		framing, _ := ByName(name)
		s := &stream{}
		c := framing(s, wire.Options{})
		testkit.OK(t, errors.Join(c.Send([]byte(a)), c.Send([]byte(pretty))))
		testkit.Expect(t, name, s.String(), want)
	}
}

func TestUnsendableParamsAreRefused(t *testing.T) {
	for name, msg := range map[string]string{"line": "{\"a\":\"x\ny\"}", "seq": "{\"a\":\"x\ny\"}", "concat": "{\"a\":\"x\ny\"}", "nul": "{\"a\":\"\x00\"}"} {
		framing, _ := ByName(name)
		s := &stream{}
		c := framing(s, wire.Options{})
		if f := wire.AsFault(c.Send([]byte(msg))); f == nil || f.Kind != wire.Usage {
			t.Errorf("%s: %v", name, f)
		}
		if err := c.Send([]byte(a)); err != nil || strings.Contains(s.String(), "x") {
			t.Errorf("%s: then %v, written %q", name, err, s.String())
		}
	}
}

func TestSendFromManyGoroutines(t *testing.T) {
	const senders, each = 8, 200
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			framing, _ := ByName(name)
			near, far := net.Pipe()
			out, in := framing(near, wire.Options{}), framing(far, wire.Options{})
			defer in.Close()
			var wg sync.WaitGroup
			for s := range senders {
				wg.Go(func() {
					for i := range each {
						msg := fmt.Appendf(nil, `{"s":%d,"i":%d,"x":"%s"}`, s, i, strings.Repeat("x", i*s))
						send := out.Send
						if i%3 == 0 {
							send = out.(wire.Batcher).SendBuffered
						}
						testkit.Expect(t, "the error of Send", send(msg), nil)
					}
				})
			}
			wg.Go(func() {
				var next [senders]int
				for range senders * each {
					msg, err := in.Recv()
					if err != nil {
						t.Error(err)
						return
					}
					var s, i int
					if n, _ := fmt.Sscanf(string(msg), `{"s":%d,"i":%d,`, &s, &i); n != 2 || next[s] != i {
						t.Errorf("%q, want number %d", msg, next[s])
					}
					next[s] = i + 1
				}
			})
			wg.Wait()
			testkit.OK(t, out.Close())
			if _, err := in.Recv(); err != io.EOF {
				t.Error(err)
			}
		})
	}
}

// A gate is a writer whose Write blocks until the test receives from started and sends to pass.
type gate struct {
	stream
	started, pass chan struct{}
	writes        [][]byte
}

func (g *gate) Write(b []byte) (int, error) {
	g.started <- struct{}{}
	<-g.pass
	g.writes = append(g.writes, bytes.Clone(b))
	return len(b), nil
}

func TestOneWriteForManyMessages(t *testing.T) {
	g := &gate{started: make(chan struct{}), pass: make(chan struct{})}
	c := Line(g, wire.Options{}).(*conn)
	for range 3 {
		testkit.OK(t, c.SendBuffered([]byte(a)))
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = c.Flush() })
	<-g.started
	for range 5 { // queued during the first write
		if _, err := c.add([]byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		wg.Go(func() { _ = c.Flush() })
	}
	g.pass <- struct{}{}
	<-g.started
	g.pass <- struct{}{}
	wg.Wait()
	if len(g.writes) != 2 || string(g.writes[0]) != strings.Repeat(a+"\n", 3) || string(g.writes[1]) != strings.Repeat(b+"\n", 5) {
		t.Errorf("%q", g.writes)
	}
}

func TestHeldBytesAreBounded(t *testing.T) {
	s := &stream{}
	c := Line(s, wire.Options{}).(*conn)
	msg := object(1000)
	for range 1000 {
		testkit.OK(t, c.SendBuffered(msg))
		if len(c.pending) > bufferSize+len(msg) {
			t.Fatalf("%d bytes are not returned", len(c.pending))
		}
	}
	if err := c.Flush(); err != nil || s.Len() != 1001*1000 {
		t.Errorf("%d bytes, %v", s.Len(), err)
	}
}

// A badWriter fails.
type badWriter struct{ stream }

var errBad = errors.New("bad")

func (*badWriter) Write([]byte) (int, error) { return 0, errBad }

func TestAFailedWriteIsPermanent(t *testing.T) {
	c := Line(&badWriter{}, wire.Options{}).(*conn)
	for _, err := range []error{c.Send([]byte(a)), c.Send([]byte(a)), c.SendBuffered([]byte(a)), c.Flush()} {
		var gone *wire.CloseError
		if !errors.As(err, &gone) || !errors.Is(err, errBad) {
			t.Errorf("%v", err)
		}
	}
}

func TestCloseUnblocksRecvAndSend(t *testing.T) {
	for _, name := range Names() {
		framing, _ := ByName(name)
		near, far := net.Pipe()
		c := framing(near, wire.Options{})
		idle := make(chan struct{})
		var once sync.Once
		c.(wire.Idler).OnIdle(func() { once.Do(func() { close(idle) }) })
		var wg sync.WaitGroup
		var recvErr, sendErr error
		wg.Go(func() { _, recvErr = c.Recv() })
		wg.Go(func() { sendErr = c.Send([]byte(a)) })
		<-idle
		testkit.OK(t, errors.Join(c.Close(), c.Close()))
		wg.Wait()
		far.Close()
		var gone *wire.CloseError
		if !errors.As(recvErr, &gone) || !errors.As(sendErr, &gone) {
			t.Errorf("%s: Recv %v, Send %v", name, recvErr, sendErr)
		}
	}
}

func TestIdleBeforeEachWait(t *testing.T) {
	s := &stream{Reader: io.MultiReader(strings.NewReader(a+"\n"+a+"\n"), strings.NewReader(a+"\n"))}
	c := Line(s, wire.Options{})
	var log []string
	c.(wire.Idler).OnIdle(func() { log = append(log, "idle") })
	for {
		msg, err := c.Recv()
		if err != nil {
			break
		}
		log = append(log, string(msg))
	}
	// The byte order mark is removed before the buffer is checked for further messages.
	if want := []string{"idle", a, a, "idle", a, "idle"}; !slices.Equal(log, want) {
		t.Errorf("%q, want %q", log, want)
	}
}

// half is a stream that can close its sending direction.
type half struct {
	stream
	ended string // what was written before CloseWrite
}

func (h *half) CloseWrite() error {
	h.ended = h.String()
	return nil
}

type badHalf struct {
	badWriter
}

func (*badHalf) CloseWrite() error { return nil }

func TestHalfClose(t *testing.T) {
	h := &half{}
	c := Line(h, wire.Options{})
	if err := errors.Join(c.(wire.Batcher).SendBuffered([]byte(a)), c.(wire.HalfCloser).CloseSend()); err != nil || h.ended != a+"\n" {
		t.Errorf("%q, %v", h.ended, err)
	}
	bad := Line(&badHalf{}, wire.Options{})
	if err := errors.Join(bad.(wire.Batcher).SendBuffered([]byte(a)), bad.(wire.HalfCloser).CloseSend()); !errors.Is(err, errBad) {
		t.Error(err)
	}
	if _, ok := Line(&stream{}, wire.Options{}).(wire.HalfCloser); ok {
		t.Error("a connection that cannot be half closed has CloseSend")
	}
}

// A cycle repeats the same bytes.
type cycle struct {
	b []byte
	i int
}

func (c *cycle) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		k := copy(b[n:], c.b[c.i:])
		n += k
		c.i = (c.i + k) % len(c.b)
	}
	return n, nil
}

func TestNoAllocationPerMessage(t *testing.T) {
	for _, name := range Names() {
		for _, limit := range []int{0, 100} {
			framing, _ := ByName(name)
			sent := &stream{}
			testkit.OK(t, framing(sent, wire.Options{}).Send(object(240)))
			in := framing(&stream{Reader: &cycle{b: sent.Bytes()}}, wire.Options{NoiseLimit: limit})
			if n := testing.AllocsPerRun(10, func() { // AllocsPerRun rounds down, so each run needs many messages
				for range 200 {
					if _, err := in.Recv(); err != nil {
						t.Fatal(err)
					}
				}
			}); n >= 4 {
				t.Errorf("%s: %v allocations for 200 messages received", name, n)
			}
			out := framing(&void{}, wire.Options{})
			testkit.Expect(t, name+": allocations per message sent", testing.AllocsPerRun(2000, func() { _ = out.Send(object240) }), 0)
		}
	}
}

var object240 = object(240)

type void struct{ stream }

func (*void) Write(b []byte) (int, error) { return len(b), nil }

// Only header framing writes lines before each message.
func TestHasHead(t *testing.T) {
	for _, name := range append(Names(), "none") {
		testkit.Expect(t, name, HasHead(name), name == "header")
	}
}

// Errors quote only the beginning of the peer's bytes.
func TestShown(t *testing.T) {
	for n, want := range map[int]string{0: `""`, 80: `"` + strings.Repeat("x", 80) + `"`, 81: `"` + strings.Repeat("x", 80) + `"…`} {
		testkit.Expect(t, fmt.Sprint(n), shown([]byte(noisy(n))), want)
	}
}

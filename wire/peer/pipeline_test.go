package peer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
)

// A mirror is a connection whose peer answers flushed requests with the function answer, and not in order.
type mirror struct {
	answer func(request []byte) []byte
	idle   func()
	held   [][]byte
	come   chan [][]byte
	left   [][]byte
}

func (m *mirror) OnIdle(f func()) { m.idle = f }

func (m *mirror) Recv() ([]byte, error) {
	for len(m.left) == 0 {
		m.idle()
		left, ok := <-m.come
		if !ok {
			return nil, io.EOF
		}
		m.left = left
	}
	next := m.left[0]
	m.left = m.left[1:]
	return next, nil
}

func (m *mirror) Send(msg []byte) error { return errors.Join(m.SendBuffered(msg), m.Flush()) }

func (m *mirror) SendBuffered(msg []byte) error {
	if answer := m.answer(msg); answer != nil {
		m.held = append(m.held, answer)
	}
	return nil
}

func (m *mirror) Flush() error {
	if half := len(m.held) / 2; len(m.held) > 0 {
		m.come <- slices.Concat(m.held[half:], m.held[:half])
		m.held = nil
	}
	return nil
}

func (m *mirror) FlushNow() (bool, error) { return true, m.Flush() }

func (m *mirror) Close() error { return nil }

// A pipelineSlot passes on the outcome of a call.
type pipelineSlot struct {
	got   chan string
	plain bool // whether Answered accepts the response
}

func (c *pipelineSlot) Answered(m *wire.Message) bool {
	if c.plain {
		c.got <- string(m.Body)
	}
	return c.plain
}

func (c *pipelineSlot) Opened(st dialect.Stream) {
	go func() {
		m, err := st.Next(context.Background())
		if err != nil {
			c.got <- "failed: " + err.Error()
			return
		}
		c.got <- "stream: " + string(m.Body)
	}()
}

// picky is a mirror that refuses messages that contain "big".
type picky struct{ *mirror }

func (p picky) SendBuffered(msg []byte) error {
	if strings.Contains(string(msg), "big") {
		return wire.Usagef("the message is too large")
	}
	return p.mirror.SendBuffered(msg)
}

// send sends a call through a pipeline.
func send(t *testing.T, l dialect.CallPipeline, method string, plain bool) *pipelineSlot {
	t.Helper()
	c := &pipelineSlot{got: make(chan string, 2), plain: plain}
	if !l.Send(&dialect.Op{Kind: dialect.Call, Method: method}, c) {
		t.Fatal("the call was not sent")
	}
	return c
}

// newMirror returns a mirror that answers each request with "ok".
func newMirror() *mirror {
	return &mirror{come: make(chan [][]byte, 8), answer: func(request []byte) []byte {
		_, id, _ := strings.Cut(string(request), `"id":`)
		id, _, _ = strings.Cut(id, ",")
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":"ok"}`, id)
	}}
}

// TestPipelineRefusesOne checks that only the call with the refused message fails.
func TestPipelineRefusesOne(t *testing.T) {
	m := newMirror()
	p := peer.New(picky{m}, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{})
	defer p.Close()
	l := p.Pipeline(4, func() {})
	var calls []*pipelineSlot
	for _, method := range []string{"a", "big", "b", "big"} {
		calls = append(calls, send(t, l, method, true))
	}
	l.Flush()
	for i, want := range []string{`"ok"`, "failed: the message is too large", `"ok"`, "failed: the message is too large"} {
		testkit.Expect(t, fmt.Sprint("call ", i+1), <-calls[i].got, want)
	}
	if n, _ := p.Pending(); n != 0 {
		t.Errorf("%d calls are pending", n)
	}
	close(m.come)
}

// A blocking mirror cannot flush without blocking.
type blocking struct {
	*mirror
	send, now, later error // the results of SendBuffered, FlushNow and Flush
	end              func()
}

func (b blocking) Close() error { b.end(); return nil }
func (b blocking) SendBuffered(msg []byte) error {
	return errors.Join(b.send, b.mirror.SendBuffered(msg))
}
func (b blocking) FlushNow() (bool, error) { return false, b.now }
func (b blocking) Flush() error            { return errors.Join(b.later, b.mirror.Flush()) }

// TestPipelineThatBlocks checks that a goroutine writes the calls if Flush would block, and that they fail with the connection.
func TestPipelineThatBlocks(t *testing.T) {
	broken := &wire.CloseError{Err: errors.New("broken")}
	const ok, lost = `"ok"`, `failed: connection lost: broken, before "a" was answered`
	for _, c := range []struct {
		blocking
		want []string
	}{{blocking{}, []string{ok, ok}}, {blocking{send: broken}, []string{lost}}, {blocking{now: broken}, []string{lost}}, {blocking{later: broken}, []string{lost}}} {
		c.mirror = newMirror()
		c.end = sync.OnceFunc(func() { close(c.come) })
		if c.want[0] == lost {
			c.answer = func([]byte) []byte { return nil }
		}
		p := peer.New(c.blocking, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{})
		l := p.Pipeline(4, func() {})
		for _, want := range c.want {
			call := send(t, l, "a", true)
			l.Flush()
			testkit.Expect(t, "the response", <-call.got, want)
		}
		p.Close()
	}
}

// TestPipelineIsRecorded checks that a recorder gets each request.
func TestPipelineIsRecorded(t *testing.T) {
	m := &mirror{come: make(chan [][]byte, 8), answer: func([]byte) []byte { return nil }}
	var sent []string
	record := func(d wire.Direction, msg []byte, _ ...[]byte) {
		if d == wire.Send {
			sent = append(sent, string(msg))
		}
	}
	p := peer.New(m, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{Record: record})
	l := p.Pipeline(4, func() {})
	for range 2 {
		send(t, l, "a", false)
	}
	l.Flush()
	testkit.Expect(t, "what was recorded", fmt.Sprint(sent), `[{"jsonrpc":"2.0","id":1,"method":"a"} {"jsonrpc":"2.0","id":2,"method":"a"}]`)
	close(m.come)
	_ = p.Close()
}

// TestPipelineKeepsOthers checks that a response with an unknown numeric id leaves the calls in the pipeline, and that a
// response with the id of a call in another spelling gives a stream to that call only.
func TestPipelineKeepsOthers(t *testing.T) {
	m := &mirror{come: make(chan [][]byte, 8), answer: func([]byte) []byte { return nil }}
	p := peer.New(m, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{})
	defer p.Close()
	l := p.Pipeline(4, func() {})
	calls := []*pipelineSlot{send(t, l, "a", true), send(t, l, "a", true)}
	l.Flush()
	response := func(id, result string) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	}
	m.come <- [][]byte{response("7", "0"), response(`"2"`, "0"), response("1", "10"), response("2", "20")}
	for i, want := range []string{"10", "stream: 20"} {
		testkit.Expect(t, fmt.Sprint("call ", i+1), <-calls[i].got, want)
	}
	close(m.come)
}

// TestPipelineAfterTheEnd checks that Flush writes nothing, and starts no goroutine, after the connection has ended.
func TestPipelineAfterTheEnd(t *testing.T) {
	for name, conn := range map[string]func(m *mirror) wire.Conn{
		"flushes without blocking": func(m *mirror) wire.Conn { return m },
		"cannot flush":             func(m *mirror) wire.Conn { return &queued{Conn: m, m: m} },
	} {
		t.Run(name, func(t *testing.T) {
			written := 0
			m := &mirror{come: make(chan [][]byte, 8), answer: func([]byte) []byte { written++; return nil }}
			p := peer.New(conn(m), jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{})
			defer p.Close()
			l := p.Pipeline(4, func() {})
			c := send(t, l, "a", false)
			close(m.come)
			<-p.Done()
			if got := <-c.got; !strings.HasPrefix(got, "failed: ") {
				t.Error(got)
			}
			before := runtime.NumGoroutine()
			l.Flush()
			if n := runtime.NumGoroutine(); n > before || written > 0 {
				t.Errorf("%d messages were written by %d more goroutines", written, n-before)
			}
		})
	}
}

// queued is a mirror that cannot flush without blocking.
type queued struct {
	wire.Conn
	m *mirror
}

func (q *queued) OnIdle(f func())               { q.m.OnIdle(f) }
func (q *queued) SendBuffered(msg []byte) error { return q.m.SendBuffered(msg) }
func (q *queued) Flush() error                  { return q.m.Flush() }

// TestPipeline checks that a call gets its response, in any order. If its slot does not accept the response, or the connection
// ends, the call gets a stream.
func TestPipeline(t *testing.T) {
	m := &mirror{come: make(chan [][]byte, 8)}
	m.answer = func(request []byte) []byte {
		id := string(request[strings.Index(string(request), `"id":`)+5:])
		id = id[:strings.IndexByte(id, ',')]
		if strings.Contains(string(request), "silent") {
			return nil
		}
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s0}`, id, id)
	}
	p := peer.New(m, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{})
	defer p.Close()
	l := p.Pipeline(4, func() {})
	if l == nil || p.Pipeline(4, func() {}) != nil {
		t.Fatal("the first pipeline is nil, or the second is not")
	}
	calls := []*pipelineSlot{send(t, l, "a", true), send(t, l, "silent", true), send(t, l, "b", false), send(t, l, "silent", true)}
	for range 200 { // more than the slots of unanswered calls
		calls = append(calls, send(t, l, "a", true))
	}
	if n, _ := p.Pending(); n != 204 {
		t.Errorf("%d calls are pending", n)
	}
	l.Flush()
	for i, want := range map[int]string{0: "10", 2: "stream: 30", 4: "50", 203: "stream: 2040"} {
		testkit.Expect(t, fmt.Sprint("call ", i+1), <-calls[i].got, want)
	}
	l.Promote(calls[1])
	m.come <- [][]byte{[]byte(`{"jsonrpc":"2.0","id":2,"result":"late"}`)}
	testkit.Expect(t, "a late response", <-calls[1].got, `stream: "late"`)
	close(m.come)
	if got := <-calls[3].got; !strings.HasPrefix(got, "failed: ") {
		t.Error(got)
	}
	if l.Send(&dialect.Op{Kind: dialect.Call, Method: "a"}, calls[0]) {
		t.Error("a call was sent after the connection ended")
	}
}

// counted is a call that counts its responses.
type counted struct{ n int }

func (c *counted) Answered(*wire.Message) bool { c.n++; return true }
func (c *counted) Opened(dialect.Stream)       {}

// echo is a connection whose peer answers each flushed message.
type echo struct {
	mirror
	ids, last int
	text      []byte
	start     chan int // number of further calls
	asleep    chan bool
	target    int
}

func (e *echo) Recv() ([]byte, error) {
	for {
		if e.last < e.ids {
			e.last++
			text := append(e.text[:0], `{"jsonrpc":"2.0","result":[1],"id":`...)
			e.text = append(strconv.AppendInt(text, int64(e.last), 10), '}')
			return e.text, nil
		}
		if e.idle(); e.last < e.ids {
			continue
		}
		e.asleep <- true
		n, ok := <-e.start
		if !ok {
			return nil, io.EOF
		}
		e.target += n
	}
}

func (e *echo) SendBuffered([]byte) error { e.ids++; return nil }

func (e *echo) FlushNow() (bool, error) { return true, nil }

// pageOfNames is JSON-RPC written as a dialect file without a base.
const pageOfNames = `
name = "names"
base = "none"
[names]
request = { method = "method", params = "params", id = "id", const = { jsonrpc = "2.0" } }
response = { id = "id", result = "result", error = "error" }
`

// spoken returns the codec of a dialect file.
func spoken(tb testing.TB, text string) dialect.Codec {
	tb.Helper()
	p, err := load.Parse("page.toml", []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	d, err := codec.New(p, codec.Native{})
	if err != nil {
		tb.Fatal(err)
	}
	return d.NewCodec(dialect.CodecOptions{})
}

// TestPipelineAllocates checks that calls in the pipeline allocate no memory, in JSON-RPC and in a dialect file with other names.
func TestPipelineAllocates(t *testing.T) {
	const n = 20_000
	for _, jobs := range []int{1, 64, -64} {
		c := jsonrpc.NewCodec(jsonrpc.Options{})
		if jobs < 0 {
			c, jobs = spoken(t, pageOfNames), -jobs
		}
		e := &echo{start: make(chan int), asleep: make(chan bool, 1)}
		p := peer.New(e, c, peer.Options{})
		<-e.asleep
		done, asked := &counted{}, 0
		op := dialect.Op{Kind: dialect.Call, Method: "echo", Params: []byte("[1]")}
		var l dialect.CallPipeline
		l = p.Pipeline(jobs, func() {
			for asked < e.target && asked-done.n < jobs {
				l.Send(&op, done)
				asked++
			}
			l.Flush()
		})
		var before, after runtime.MemStats
		e.start <- n
		<-e.asleep
		runtime.ReadMemStats(&before)
		e.start <- n
		<-e.asleep
		runtime.ReadMemStats(&after)
		testkit.Expect(t, "answered calls", done.n, 2*n)
		if got := after.Mallocs - before.Mallocs; got > n/100 {
			t.Errorf("%d in flight: %d allocations for %d calls", jobs, got, n)
		}
		close(e.start)
		p.Close()
	}
}

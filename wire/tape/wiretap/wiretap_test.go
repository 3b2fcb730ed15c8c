package wiretap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func record(t *testing.T) (*recorder.Recorder, func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.tape")
	r, err := recorder.Open(recorder.Options{File: file, Header: tape.Header{Dialect: "jsonrpc"}})
	testkit.OK(t, err)
	return r, func() string {
		t.Helper()
		testkit.OK(t, r.Close())
		b, err := os.ReadFile(file)
		testkit.OK(t, err)
		lines := strings.SplitAfter(string(b), "\n")
		return regexp.MustCompile(`"t":[0-9.]+,?`).ReplaceAllString(strings.Join(lines[1:], ""), "")
	}
}

// sockets returns both ends of a TCP connection.
func sockets(t *testing.T) (a, b *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	testkit.OK(t, err)
	accepted, err := l.Accept()
	testkit.OK(t, err)
	t.Cleanup(func() { dialled.Close(); accepted.Close() })
	return dialled.(*net.TCPConn), accepted.(*net.TCPConn)
}

// passBytes records two byte streams. It returns the peers' ends, a channel for the result of Pass, and a function that reads the tape.
func passBytes(t *testing.T, framing wire.Framing, o wire.Options) (client, server *net.TCPConn, done chan error, read func() string) {
	t.Helper()
	client, near := sockets(t)
	far, server := sockets(t)
	r, read := record(t)
	done = make(chan error, 1)
	go func() { done <- Pass(Bytes(near, o), Bytes(far, o), framing, r.Conn(tape.Open{}, false), nil) }()
	return client, server, done, read
}

// Bytes are passed on unchanged, including blanks, noise and partial lines.
func TestBytes(t *testing.T) {
	client, server, done, read := passBytes(t, framing.Line, wire.Options{})
	up := "  {\"id\": 1,\"password\":\"x\"}\r\n\n[1]\nhello\n{\"half\":"
	io.WriteString(client, up)
	client.CloseWrite()
	got, err := io.ReadAll(server)
	if string(got) != up || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	down := "{\"r\":1}\n\n bye"
	io.WriteString(server, down)
	server.Close()
	got, err = io.ReadAll(client)
	if string(got) != down || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	testkit.OK(t, <-done)
	want := `{"open":{}}
{"dir":"send","msg":{"id":1,"password":"…1"}}
{"dir":"send","msg":[1]}
{"dir":"send","text":"hello"}
{"dir":"send","text":"{\"half\":"}
{"dir":"recv","msg":{"r":1}}
{"dir":"recv","text":" bye"}
{"dir":"send","close":{"clean":true}}
`
	testkit.Expect(t, "the tape", read(), want)
}

// An invalid frame does not end the conversation.
func TestBrokenFraming(t *testing.T) {
	client, server, done, read := passBytes(t, framing.Header, wire.Options{})
	up := "Content-Length: 2\r\n\r\n{}Content-Length: x\r\n\r\n" + strings.Repeat("y", 100_000)
	go func() { io.WriteString(client, up); client.CloseWrite() }()
	got, err := io.ReadAll(server)
	if string(got) != up || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	server.Close()
	<-done
	if tape := read(); !strings.Contains(tape, `"msg":{}`) || !strings.Contains(tape, `{"note":"the rest is recorded as bytes: `) || strings.Count(tape, "y") < 10_000 {
		t.Errorf("got\n%.600s", tape)
	}
}

// The tape has all parts of a message that exceeds the limit of the framing, without secrets.
func TestLargeMessage(t *testing.T) {
	client, server, done, read := passBytes(t, framing.Line, wire.Options{MaxMessage: 70_000})
	up := `{"id":1}` + "\n" + `{"id":2,"method":"put","params":["` + strings.Repeat("y", 300_000) + `"],"password":"` + strings.Repeat("z", 200_000) + `"}` + "\n" + `{"id":3}` + "\n"
	go func() { io.WriteString(client, up); client.CloseWrite() }()
	got, err := io.ReadAll(server)
	if string(got) != up || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	server.Close()
	<-done
	text := ""
	for line := range strings.Lines(read()) {
		var l struct{ Text string }
		testkit.OK(t, json.Unmarshal([]byte(line), &l))
		text += l.Text
	}
	want := strings.TrimPrefix(up, `{"id":1}`+"\n")
	if want = strings.ReplaceAll(want, strings.Repeat("z", 200_000), "…"); text != want {
		t.Errorf("the tape has %d bytes of %d, which begin with %.60q", len(text), len(want), text)
	}
}

// Messages and closes are passed on between connections of different kinds.
func TestMessages(t *testing.T) {
	client, near := transport.Pair()
	far, server := sockets(t)
	r, read := record(t)
	done := make(chan error, 1)
	go func() {
		done <- Pass(near, framing.Line(far, wire.Options{}), framing.Line, r.Conn(tape.Open{}, false), nil)
	}()
	testkit.OK(t, client.Send([]byte(`{"a":1}`)))
	b := make([]byte, 8)
	if _, err := io.ReadFull(server, b); err != nil || !bytes.Equal(b, []byte("{\"a\":1}\n")) {
		t.Errorf("%q, %v", b, err)
	}
	io.WriteString(server, "[2]\n")
	testkit.Expect(t, "the response", testkit.Recv(t, client), "[2]")
	client.Close()
	if _, err := server.Read(b); err != io.EOF {
		t.Error(err)
	}
	var closed *wire.CloseError
	if err := <-done; err != nil && !errors.As(err, &closed) {
		t.Error(err)
	}
	if tape := read(); !strings.HasSuffix(tape, `{"dir":"send","close":{"clean":true}}`+"\n") {
		t.Errorf("got\n%s", tape)
	}
}

// A streaming is the connection of a POST whose client accepts an event stream until it closes.
type streaming struct {
	wire.Conn
	gone atomic.Bool
}

func (s *streaming) SingleResponse() bool { return false }

func (s *streaming) Send(msg []byte) error {
	if s.gone.Load() {
		return io.ErrClosedPipe
	}
	return s.Conn.Send(msg)
}

// subscribed passes on a POST that opens the stream "s" and id, up to its response.
func subscribed(t *testing.T, posts *Posts, server wire.Conn, id int) (s *streaming, client wire.Conn, done chan error) {
	t.Helper()
	s = &streaming{}
	client, done = passed(t, posts, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ticks"}`, id), func(near wire.Conn) wire.Conn {
		s.Conn = near
		return s
	})
	if msg := testkit.Recv(t, server); !strings.Contains(msg, fmt.Sprintf(`"id":%d`, id)) {
		t.Fatal(msg)
	}
	_ = server.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":"s%d"}`, id, id))
	testkit.Recv(t, client)
	return s, client, done
}

// When its client has closed, a POST ends at the next item of its stream. Later items are only recorded.
func TestStreamOfAClosedClient(t *testing.T) {
	far, server := transport.Pair()
	posts, read := newPosts(t, far)
	item := func(stream string, n int) string {
		text := fmt.Sprintf(`{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"%s","result":%d}}`, stream, n)
		_ = server.Send([]byte(text))
		return text
	}
	one, first, done := subscribed(t, posts, server, 1)
	want := item("s1", 1)
	testkit.Expect(t, "the first item", testkit.Recv(t, first), want)
	_, second, ended := subscribed(t, posts, server, 2)
	want = item("s2", 1)
	testkit.Expect(t, "the first item of the other client", testkit.Recv(t, second), want)
	one.gone.Store(true)
	item("s1", 2)
	<-done
	item("s1", 3)
	want = item("s2", 2)
	testkit.Expect(t, "the next item of the other client", testkit.Recv(t, second), want)
	_ = server.Send([]byte(`{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s2","done":true}}`))
	testkit.Recv(t, second)
	<-ended
	if _, streams, _ := posts.sized(); streams != 1 {
		t.Errorf("%d streams are stored", streams)
	}
	_ = server.Close()
	if tape := read(); !strings.Contains(tape, `"subscription":"s1","result":3}`) {
		t.Errorf("got\n%s", tape)
	}
}

// An exiting is a connection to a child that closes its stdout first. Then the client ends, and rpcx closes the connection.
type exiting struct {
	closing
	child  wire.Child
	client wire.HalfCloser
	reads  int
}

func (c *exiting) Recv() ([]byte, error) {
	switch c.reads++; c.reads {
	case 1:
		return nil, io.EOF
	case 2:
		_ = c.client.CloseSend()
		<-c.over
		return nil, &wire.CloseError{Clean: true}
	}
	return nil, &wire.CloseError{Child: &c.child}
}

// The outcome is the status with which the child exits, but not a signal, which may be rpcx's own.
func TestChildExitsAfterClose(t *testing.T) {
	for _, child := range []wire.Child{{Exit: 3}, {Exit: 0}, {Exit: -1, Signal: "SIGTERM"}} {
		client, near := transport.Pair()
		r, _ := record(t)
		err := Pass(near, &exiting{closing{over: make(chan struct{})}, child, client.(wire.HalfCloser), 0}, framing.Line, r.Conn(tape.Open{}, false), nil)
		if closed, _ := errors.AsType[*wire.CloseError](err); (closed != nil) != (child.Exit > 0) {
			t.Errorf("%+v: %v", child, err)
		}
	}
}

// Only these close codes can be sent.
func TestSendable(t *testing.T) {
	for code, want := range map[int]bool{
		-1: false, 0: false, 999: false, 1000: true, 1003: true, 1004: false, 1005: false, 1006: false, 1007: true, 1014: true, 1015: false, 1016: true, 4999: true, 5000: false,
	} {
		testkit.Expect(t, fmt.Sprint(code), sendable(code), want)
	}
}

// A closing is a connection that the peer closes with err, or that only rpcx closes. It stores the code of the first close.
type closing struct {
	err   error
	once  sync.Once
	over  chan struct{}
	first string
}

func (c *closing) Recv() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	<-c.over
	return nil, io.EOF
}
func (c *closing) Send([]byte) error { return nil }
func (c *closing) Close() error      { return c.CloseWith(0, "") }
func (c *closing) CloseWith(code int, reason string) error {
	c.once.Do(func() {
		c.first = fmt.Sprint(code, " ", reason)
		close(c.over)
	})
	return nil
}

// Each side gets the close code and reason of the other, except those that a WebSocket must not send.
func TestCloseCodesPass(t *testing.T) {
	for code, want := range map[int]string{4001: "4001 so long", 1006: "0 "} {
		for _, d := range []wire.Direction{wire.Send, wire.Recv} {
			ends := &closing{err: &wire.CloseError{Code: code, Reason: "so long"}, over: make(chan struct{})}
			other := &closing{over: make(chan struct{})}
			sides := [2]wire.Conn{ends, other}
			if d == wire.Recv {
				sides = [2]wire.Conn{other, ends}
			}
			r, _ := record(t)
			_ = Pass(sides[0], sides[1], nil, r.Conn(tape.Open{}, false), nil)
			testkit.Expect(t, fmt.Sprint(code, " ", d), other.first, want)
		}
	}
}

// A full is a stream of bytes whose peer no longer reads.
type full struct{ source }

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

// If a side no longer accepts bytes, the connection ends with the reason.
func TestPassToAFullStream(t *testing.T) {
	for _, f := range []wire.Framing{framing.Line, framing.Header} { // for the second one, the messages are invalid
		r, read := record(t)
		err := Pass(Bytes(newSource(2), wire.Options{}), Bytes(&full{}, wire.Options{}), f, r.Conn(tape.Open{}, false), nil)
		if tape := read(); err != nil || !strings.Contains(tape, `"close":{"error":"full"}`) {
			t.Errorf("%v, %.300s", err, tape[max(len(tape)-300, 0):])
		}
	}
	for _, err := range []error{io.EOF, &wire.CloseError{Code: 4001, Err: io.EOF}} {
		if closed, ok := sendError(err).(*wire.CloseError); !ok || closed.Err != io.EOF {
			t.Errorf("%v", closed)
		}
	}
}

// A lateChild is the stream of a child that closes its stdout, and then exits.
type lateChild struct{ full }

func (lateChild) Read([]byte) (int, error) { return 0, io.EOF }

func (lateChild) Exited() error {
	return &wire.CloseError{Child: &wire.Child{Command: "late", Exit: 3}}
}

// The exit of a child that has closed its stdout ends the connection while the client's direction is open.
func TestChildExitsAfterStdout(t *testing.T) {
	for _, framed := range []wire.Framing{Bytes, framing.Line} {
		_, near := sockets(t)
		r, read := record(t)
		err := Pass(framed(near, wire.Options{}), framed(&lateChild{}, wire.Options{}), framing.Line, r.Conn(tape.Open{}, false), nil)
		if tape := read(); err == nil || !strings.Contains(tape, `"dir":"recv","close":{"child":{"command":"late","exit":3}}`) {
			t.Errorf("%v, %s", err, tape)
		}
	}
}

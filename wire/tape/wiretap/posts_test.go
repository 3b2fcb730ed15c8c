package wiretap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// leaving is the connection of a POST whose client can close while it waits.
type leaving struct {
	wire.Conn
	gone chan struct{}
}

func (l *leaving) PeerClosed() <-chan struct{} { return l.gone }

// halfDeaf is a connection to a server that accepts messages but does not read them.
type halfDeaf struct{ wire.Conn }

func (halfDeaf) Send([]byte) error { return nil }

// newPosts returns the Posts of a connection to a server, and a function that reads the tape.
func newPosts(t *testing.T, far wire.Conn) (*Posts, func() string) {
	t.Helper()
	r, read := record(t)
	return NewPosts(far, jsonrpc.Shape(jsonrpc.V2), r.Conn(tape.Open{}, false), nil), read
}

// sized returns the numbers of stored ids and streams, and whether a POST is waiting.
func (p *Posts) sized() (ids, streams int, waits bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.wait), len(p.open), p.last != nil
}

// passed passes on a POST with msg over the connection that wrap makes. client is the client's end, and ended gets the result of Pass.
func passed(t *testing.T, posts *Posts, msg string, wrap func(near wire.Conn) wire.Conn) (client wire.Conn, ended chan error) {
	t.Helper()
	client, near := transport.Pair()
	ended = make(chan error, 1)
	testkit.OK(t, client.Send([]byte(msg)))
	go func() { ended <- posts.Pass(t.Context(), wrap(near), nil) }()
	return client, ended
}

// posted passes on a POST whose client closes when gone is closed.
func posted(t *testing.T, posts *Posts, msg string) (client wire.Conn, gone chan struct{}, ended chan error) {
	t.Helper()
	gone = make(chan struct{})
	client, ended = passed(t, posts, msg, func(near wire.Conn) wire.Conn { return &leaving{near, gone} })
	return client, gone, ended
}

// A POST that the server does not accept fails, and its client gets the error. It leaves no state, because it gets no response.
func TestARefusedPostLeavesNoRecord(t *testing.T) {
	far, server := transport.Pair()
	posts, read := newPosts(t, far)
	server.Close()
	for i := range 100 {
		client, _, ended := posted(t, posts, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"a"}`, i))
		var closed *wire.CloseError
		if err := <-ended; !errors.As(err, &closed) {
			t.Fatal(err)
		}
		if msg, err := client.Recv(); err == nil {
			t.Fatalf("%s", msg)
		}
	}
	if ids, _, waits := posts.sized(); ids > 0 || waits {
		t.Errorf("%d ids are stored, a POST waits: %t", ids, waits)
	}
	if tape := read(); strings.Count(tape, `"method":"a"`) != 100 || !strings.Contains(tape, `"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}`) {
		t.Errorf("got\n%s", tape)
	}
}

// If the server has closed its sending direction, a POST fails at once.
func TestPostAfterTheEnd(t *testing.T) {
	far, server := transport.Pair()
	posts, read := newPosts(t, halfDeaf{far})
	server.Close()
	client, _, ended := posted(t, posts, `{"jsonrpc":"2.0","id":1,"method":"a"}`)
	var closed *wire.CloseError
	if err := <-ended; !errors.As(err, &closed) {
		t.Errorf("got %v", err)
	}
	if msg, err := client.Recv(); err == nil {
		t.Errorf("%s", msg)
	}
	if tape := read(); !strings.Contains(tape, `"msg":{"jsonrpc":"2.0","id":1,"method":"a"}`) {
		t.Errorf("got\n%s", tape)
	}
}

// shut is a server that accepts messages, and ends when at is closed, without a reason.
type shut struct {
	halfDeaf
	at chan struct{}
}

func (s shut) Recv() ([]byte, error) {
	<-s.at
	return nil, io.EOF
}

// A server that ends without a reason has closed cleanly, which pending and later POSTs report.
func TestPostsAtTheEndOfBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, server := transport.Pair()
		defer server.Close()
		at := make(chan struct{})
		posts, _ := newPosts(t, shut{halfDeaf{far}, at})
		_, _, waits := posted(t, posts, `{"jsonrpc":"2.0","id":1,"method":"a"}`)
		synctest.Wait()
		close(at)
		_, _, late := posted(t, posts, `{"jsonrpc":"2.0","id":2,"method":"a"}`)
		for _, ended := range []chan error{waits, late} {
			var closed *wire.CloseError
			if err := <-ended; !errors.As(err, &closed) || !closed.Clean {
				t.Errorf("got %v", err)
			}
		}
	})
}

// If clients close before they get a response, the stored state is bounded. It prevents a late response from going to another client.
func TestClientsThatClose(t *testing.T) {
	far, server := transport.Pair()
	posts, _ := newPosts(t, far)
	for i := range maxLeft + 10 {
		_, gone, ended := posted(t, posts, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"a"}`, i))
		testkit.Recv(t, server)
		close(gone)
		testkit.OK(t, <-ended)
	}
	if ids, _, _ := posts.sized(); ids != maxLeft {
		t.Errorf("%d ids are stored, want %d", ids, maxLeft)
	}
	client, _, ended := posted(t, posts, `{"jsonrpc":"2.0","id":"mine","method":"a"}`)
	testkit.Recv(t, server)
	_ = server.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":"late"}`, maxLeft+9))
	_ = server.Send([]byte(`{"jsonrpc":"2.0","id":"mine","result":"in time"}`))
	testkit.Expect(t, "the response", testkit.Recv(t, client), `{"jsonrpc":"2.0","id":"mine","result":"in time"}`)
	testkit.OK(t, <-ended)
	if ids, _, _ := posts.sized(); ids != maxLeft-1 {
		t.Errorf("%d ids are stored after a late response, want %d", ids, maxLeft-1)
	}
}

// The number of streams whose clients have closed is bounded, too.
func TestUnsubscribedStreams(t *testing.T) {
	far, server := transport.Pair()
	posts, _ := newPosts(t, far)
	for i := range maxLeft + 10 {
		s, client, done := subscribed(t, posts, server, i)
		item := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s%d","result":1}}`, i)
		_ = server.Send(item)
		testkit.Recv(t, client)
		s.gone.Store(true)
		_ = server.Send(item)
		<-done
	}
	if _, streams, _ := posts.sized(); streams != maxLeft {
		t.Errorf("%d streams are stored, want %d", streams, maxLeft)
	}
}

// tardy is a server whose end is visible only when the test allows it.
type tardy struct {
	wire.Conn
	may chan struct{}
}

func (t *tardy) Recv() ([]byte, error) {
	<-t.may
	return nil, &wire.CloseError{Clean: true}
}

// Before the tape closes, the end of the server is recorded.
func TestTheEndOfTheServerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &tardy{may: make(chan struct{})}
		posts, read := newPosts(t, server)
		var waited atomic.Bool
		go func() { posts.Wait(); waited.Store(true) }()
		synctest.Wait()
		if waited.Load() {
			t.Error("not waited for the server's end")
		}
		close(server.may)
		posts.Wait()
		if got := read(); !strings.Contains(got, `"close"`) {
			t.Errorf("the tape has no close: %s", got)
		}
	})
}

// Clients with equal ids get their own responses.
func TestPostsWithTheSameID(t *testing.T) {
	far, server := transport.Pair()
	posts, _ := newPosts(t, far)
	type waiting struct {
		client wire.Conn
		ended  chan error
		want   string
	}
	var all []waiting
	var replies [][]byte
	for _, c := range []struct{ msg, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"a","x":1.0}`, `{"jsonrpc":"2.0","id":1,"result":"a"}`},
		{`{"x":[1.0], "method":"b","id":1,"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1,"result":"b"}`},
		{`[{"jsonrpc":"2.0","id":1,"method":"c"}]`, `[{"jsonrpc":"2.0","id":1,"result":"c"}]`},
		{`{"jsonrpc":"2.0","id":"1","method":"d"}`, `{"jsonrpc":"2.0","id":"1","result":"d"}`},
		{`{"jsonrpc":"2.0","id":"1","method":"e"}`, `{"jsonrpc":"2.0","id":"1","result":"e"}`},
	} {
		client, _, ended := posted(t, posts, c.msg)
		got := testkit.Recv(t, server)
		part := scan.Trim([]byte(strings.Trim(got, "[]")))
		if was := scan.Get(bytes.Trim([]byte(c.msg), "[]"), "id"); scan.Type(scan.Get(part, "id")) != scan.Type(was) ||
			string(scan.Splice(part, "id", was)) != string(bytes.Trim([]byte(c.msg), "[]")) {
			t.Errorf("more than the id has changed:\n got %s\nwant %s", got, c.msg)
		}
		all = append(all, waiting{client, ended, c.want})
		replies = append(replies, bytes.Replace([]byte(c.want), scan.Get(bytes.Trim([]byte(c.want), "[]"), "id"), scan.Get(part, "id"), 1))
	}
	for i := range slices.Backward(all) {
		testkit.OK(t, server.Send(replies[i]))
		testkit.Expect(t, "the response", testkit.Recv(t, all[i].client), all[i].want)
		testkit.OK(t, <-all[i].ended)
	}
	if ids, _, waits := posts.sized(); ids > 0 || waits {
		t.Errorf("%d ids are stored, a POST waits: %t", ids, waits)
	}
}

// A deaf client does not read.
type deaf struct {
	wire.Conn
	sending chan struct{} // has a value if a message is being sent
	gone    chan struct{}
}

func (d *deaf) Send([]byte) error {
	d.sending <- struct{}{}
	<-d.gone
	return io.ErrClosedPipe
}

// deafClient returns Posts, their server, and a client that has sent a request and does not read. done gets the result of Pass.
func deafClient(t *testing.T) (posts *Posts, server wire.Conn, d *deaf, done chan error) {
	far, server := transport.Pair()
	posts, _ = newPosts(t, far)
	d = &deaf{sending: make(chan struct{}, 1), gone: make(chan struct{})}
	_, done = passed(t, posts, `{"jsonrpc":"2.0","id":1,"method":"a"}`, func(near wire.Conn) wire.Conn {
		d.Conn = near
		return d
	})
	testkit.Recv(t, server)
	return posts, server, d, done
}

// A client that does not read does not delay the others.
func TestAClientThatDoesNotRead(t *testing.T) {
	posts, server, d, done := deafClient(t)
	_ = server.Send([]byte(`{"jsonrpc":"2.0","id":1,"result":"unread"}`))
	other, _, ended := posted(t, posts, `{"jsonrpc":"2.0","id":2,"method":"b"}`)
	testkit.Recv(t, server)
	_ = server.Send([]byte(`{"jsonrpc":"2.0","id":2,"result":"read"}`))
	testkit.Expect(t, "the response", testkit.Recv(t, other), `{"jsonrpc":"2.0","id":2,"result":"read"}`)
	close(d.gone)
	for _, end := range []chan error{done, ended} {
		testkit.OK(t, <-end)
	}
}

// The limit for queued messages includes the message that a client has not accepted yet.
func TestAMessageIsQueuedUntilItsClientAcceptsIt(t *testing.T) {
	posts, server, d, done := deafClient(t)
	answer := `{"jsonrpc":"2.0","id":1,"result":"unread"}`
	_ = server.Send([]byte(answer))
	<-d.sending
	queued := func() int {
		posts.mu.Lock()
		defer posts.mu.Unlock()
		return posts.queued
	}
	testkit.Expect(t, "queued bytes", queued(), len(answer))
	close(d.gone)
	if err := <-done; err != nil || queued() != 0 {
		t.Errorf("%d bytes are queued after the POST, which ended with %v", queued(), err)
	}
}

// If too much is queued, the POST of a client that does not read ends, and its messages are dropped.
func TestTooMuchIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		posts, server, d, done := deafClient(t)
		posts.queued = maxQueued
		for range 2 {
			_ = server.Send([]byte(`{"jsonrpc":"2.0","method":"n"}`))
		}
		synctest.Wait()
		if _, _, waits := posts.sized(); waits || posts.queued != maxQueued {
			t.Errorf("a POST waits: %t, %d bytes are queued", waits, posts.queued)
		}
		close(d.gone)
		testkit.OK(t, <-done)
		_ = server.Close()
	})
}

// An exchanger is an HTTP server that responds to a request with two messages.
type exchanger struct{ wire.Conn }

func (exchanger) Exchange(_ context.Context, msg []byte, recv func([]byte)) error {
	recv([]byte(`{"jsonrpc":"2.0","method":"n"}`))
	recv([]byte(`{"jsonrpc":"2.0","id":1,"result":2}`))
	return io.ErrUnexpectedEOF
}

// To an HTTP server, each POST is forwarded in a POST. Its messages are recorded, and its error is returned.
func TestPostsToHTTP(t *testing.T) {
	posts, read := newPosts(t, exchanger{})
	client, _, ended := posted(t, posts, `{"jsonrpc":"2.0","id":1,"method":"a"}`)
	got := testkit.Recv(t, client) + testkit.Recv(t, client)
	testkit.Expect(t, "the error", <-ended, io.ErrUnexpectedEOF)
	want := `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}` + "\n" + `{"dir":"recv","msg":{"jsonrpc":"2.0","method":"n"}}` + "\n" + `{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":2}}`
	if tape := read(); got != `{"jsonrpc":"2.0","method":"n"}{"jsonrpc":"2.0","id":1,"result":2}` || !strings.Contains(tape, want) {
		t.Errorf("%s\n%s", got, tape)
	}
}

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/session/relay"
	"rpcx/wire/session/rundir"
	"rpcx/wire/testkit"
)

// host runs a session to endpoint in this process, until the test or the session ends. The channel returns the session's error.
func (w *world) host(endpoint string, k HostOptions, hooks ...string) <-chan error {
	w.t.Helper()
	live, ended := make(chan struct{}), make(chan error, 1)
	k.Live = func() { close(live) }
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- Host(ctx, w.endpoint(endpoint), w.options(hooks), k)
	}()
	w.t.Cleanup(func() { cancel(nil); <-done })
	if k.Name != "slow" {
		<-live
	}
	return ended
}

// attach opens the control connection to a session.
func (w *world) attach(name string) *Control {
	w.t.Helper()
	c, err := Attach(w.t.Context(), name)
	testkit.OK(w.t, err)
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (w *world) status(name string) (s Status) {
	w.t.Helper()
	raw, err := w.attach(name).Status(w.t.Context())
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	testkit.OK(w.t, err)
	return s
}

// Any process that connects to a session's socket gets errors for invalid messages, and does not affect the session.
func TestHostRefuses(t *testing.T) {
	w := newWorld(t, "add=jq:.[0] + .[1]")
	w.host(w.at, HostOptions{Name: "work"})
	path := filepath.Join(w.dir, "run", "rpcx", "s-work")
	for send, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"exec"}`:                                                            `"code":-32601`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"unsub"}}`:                                    `unknown operation`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"watch","since":9}}`:                          `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"raw"}}`:                                      `"error"`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"raw","params":[]}}`:                          `"result"`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"eval","code":"1"}}`:                          `"unsupported":true`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"call","method":"x","funcs":{"/a":"b"}}}`:     `"error"`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"subscribe","method":"x","extra":7}}`:         `"result"`,
		`{"jsonrpc":"2.0","id":1,"method":"open"}`:                                                            `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"notify","params":{"op":"call","params":7}}`:                        `"id":1`,
		`{"jsonrpc":"2.0","id":1,"method":"notify","params":7}`:                                               `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"finish","params":7}`:                                               `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"job.run","job":"j"}}`:                        `the dialect has no jobs`,
		`{"jsonrpc":"2.0","id":1,"method":"typing"}`:                                                          `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"typing","params":{"method":"x"}}`:                                  `"result":null`,
		`{"jsonrpc":"2.0","id":1,"method":"raw.send"}`:                                                        `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"raw.send","params":{"stream":1,"message":"x"}}`:                    `"kind":"closed"`,
		`{"jsonrpc":"2.0","id":1,"method":"raw.finish","params":{}}`:                                          `"kind":"closed"`,
		`{"jsonrpc":"2.0","id":1,"method":"inbox.next","params":[]}`:                                          `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"inbox.took","params":{"id":1,"lease":-5}}`:                         `"kind":"conflict"`,
		`{"jsonrpc":"2.0","id":1,"method":"inbox.reply","params":{"id":"x"}}`:                                 `"kind":"usage"`,
		`{"jsonrpc":"2.0","id":1,"method":"inbox.reject","params":{"id":1}}`:                                  `"kind":"conflict"`,
		`{"jsonrpc":"2.0","id":1,"method":"status","params":{"pid":1}}`:                                       `"state":"live"`,
		`{"jsonrpc":"2.0","id":1,"method":"cancel","params":[{"a":1}]}`:                                       `"result":false`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":` + strings.Repeat("[", 2000) + "}":                 `"error"`,
		`[{"jsonrpc":"2.0","id":1,"method":"hello"},7]`:                                                       `"code":-32600`,
		`{"jsonrpc":"2.0","id":1,"method":"open","params":{"op":"call","method":"add","hook":"no such hook"}`: `"code":-32700`,
	} {
		testkit.SocketAnswers(t, path, send, want)
	}
	// The peer's error about the empty batch can arrive before or during the first of these calls.
	testkit.Until(t, "calls are answered afterwards", func() bool { return w.call(w.open("@work"), "add", "[1,2]") == "3" })
}

// Reading the status of a session does not count as use, but attaching does.
func TestHostCountsClients(t *testing.T) {
	w := newWorld(t)
	ended := w.host(w.at, HostOptions{Name: "work", IdleExit: 2 * time.Second})
	c := w.open("@work")
	testkit.Expect(t, "clients", w.status("work").Clients, 1)
	c.Close()
	testkit.Until(t, "the session ended although its status was read", func() bool {
		_, err := List(t.Context())
		testkit.OK(t, err)
		select {
		case err := <-ended:
			if f := wire.AsFault(err); f == nil || f.Message != "no command used it for 2s (--idle-exit)" {
				t.Errorf("Host returned %v", err)
			}
			return true
		default:
			return false
		}
	})
}

// A session is ready when its subscriptions have responses, and fails if they have none within a limit.
func TestHostIsNotLiveUnanswered(t *testing.T) {
	w := newWorld(t)
	op := dialect.Op{Kind: dialect.Subscribe, Method: "ticks"}
	err := Host(t.Context(), w.endpoint("exec:sleep 4713"), w.options(nil), HostOptions{Name: "work", Subscribe: []dialect.Op{op}, FirstAnswerTimeout: 300 * time.Millisecond})
	if f := wire.AsFault(err); f == nil || f.Kind != wire.Timeout || f.Message != "no response to ticks within 300ms" {
		t.Errorf("Host returned %v", err)
	}
}

// A session that is still connecting reports its status and can be closed. Commands that wait for it get the reason.
func TestHostIsClosedWhileItConnects(t *testing.T) {
	w := newWorld(t)
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // never answers the upgrade
	testkit.OK(t, err)
	defer deaf.Close()
	ended := w.host("ws://"+deaf.Addr().String()+"/", HostOptions{Name: "slow"})
	testkit.Until(t, "the session has a socket", func() bool { path, _ := rundir.Find("slow"); return path != "" })
	testkit.Expect(t, "the session's state", w.status("slow").State, "connecting")
	opened := make(chan error, 1)
	go func() {
		_, err := session.Open(t.Context(), w.endpoint("@slow"), session.Options{})
		opened <- err
	}()
	testkit.Until(t, "a command waits for the session", func() bool { return w.status("slow").Clients == 1 })
	_, err = w.attach("slow").End(t.Context())
	testkit.OK(t, err)
	for _, err := range []error{<-ended, <-opened} {
		testkit.Expect(t, "the end", fmt.Sprint(err), "session slow was closed while it was being opened")
	}
	if _, err := Attach(t.Context(), "slow"); !rundir.IsAbsent(err) {
		t.Errorf("Attach to a closed session: %v", err)
	}
}

// Only one attached process gets a request from the peer. A process that has closed its sending direction gets none.
func TestHostTakesASingleResponse(t *testing.T) {
	w := newWorld(t, `go=jq:rpc("ask"; .)`)
	w.host(w.at, HostOptions{Name: "work"})
	join := func() relay.RawPipe {
		p, err := w.open("@work").Raw()
		testkit.OK(t, err)
		return p
	}
	one, two, done := join(), join(), join()
	finished := make(chan error, 1)
	testkit.OK(t, done.Send(t.Context(), []byte(`{"jsonrpc":"2.0","id":"hang","method":"go","params":["first"]}`)))
	asked := func(p relay.RawPipe) string {
		m, _, err := p.Recv()
		testkit.OK(t, err)
		return string(scan.Get(m.Raw, "id"))
	}
	answer := func(id, value string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":` + id + `,"result":` + value + `}`)
	}
	first := asked(done) // it attached last
	go func() { finished <- done.Finish(t.Context()) }()
	// The request that went to the process that has ended is rejected. Later requests go to another process.
	m, _, err := done.Recv()
	if err != nil || !strings.Contains(string(m.Raw), "the process that answered requests has ended") {
		t.Errorf("got %s, %v", m.Raw, err)
	}
	testkit.OK(t, <-finished)
	testkit.Expect(t, "a response to a rejected request", testkit.Failed(two.Send(t.Context(), answer(first, "1"))), "failed usage")
	call := w.start(w.open("@work"), dialect.Call, "go", `["second"]`)
	second := asked(two)
	testkit.OK(t, one.Send(t.Context(), answer(second, `"one"`)))
	testkit.Expect(t, "a second response", testkit.Failed(two.Send(t.Context(), answer(second, `"two"`))), "failed usage")
	testkit.Expect(t, "the response", w.next(call), `"one"`)
	testkit.Expect(t, "Send after the end", testkit.Failed(done.Send(t.Context(), []byte(`{"jsonrpc":"2.0","method":"late"}`))), "failed closed")
}

// A status request gets a response even if the session fails meanwhile.
func TestHostStatusWhileItFails(t *testing.T) {
	w := newWorld(t, `go=jq:rpc("bad"; null)`)
	w.host(w.at, HostOptions{Name: "work"}, `bad=jq:error("no")`)
	c := w.open("@work")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			w.call(c, "go", "")
		}
	}()
	for range 50 {
		w.status("work")
	}
	<-done
	if s := w.status("work"); s.LastError == nil || !strings.Contains(*s.LastError, "no") {
		t.Errorf("the last error is %v", s.LastError)
	}
}

// When a session is closed, raw traffic ends with the reason.
func TestHostIsClosedUnderRawTraffic(t *testing.T) {
	w := newWorld(t)
	w.host(w.at, HostOptions{Name: "work"})
	c := w.open("@work").(*relay.Client)
	p, err := c.Raw()
	testkit.OK(t, err)
	_, err = w.attach("work").End(t.Context())
	testkit.OK(t, err)
	<-c.Done()
	_, err = c.Raw()
	testkit.Expect(t, "Raw after the end", testkit.Failed(err), "failed closed")
	testkit.Expect(t, "AnswerFallback after the end", testkit.Failed(c.AnswerFallback(t.Context(), nil)), "failed closed")
	if _, _, err := p.Recv(); err != io.EOF {
		t.Errorf("Recv: %v", err)
	}
	testkit.Expect(t, "the reason", fmt.Sprint(p.Err()), "the session was closed")
}

// The reason is recorded if the peer closes before the session is ready.
func TestHostCloses(t *testing.T) {
	at := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", at)
	testkit.OK(t, err)
	defer l.Close()
	w := &world{t: t}
	d, err := session.OpenDirect(t.Context(), w.endpoint("unix:"+at), w.options(nil))
	testkit.OK(t, err)
	defer d.Close()
	h := &host{conv: d}
	testkit.OK(t, h.disconnectReason())
	far, err := l.Accept()
	testkit.OK(t, err)
	far.Close()
	<-d.Done()
	testkit.Expect(t, "the reason after the peer closed", testkit.Failed(h.disconnectReason()), "failed closed")
}

// farewell is a stream that takes some time to cancel.
type farewell struct {
	dialect.Stream
	told atomic.Bool
}

func (f *farewell) Cancel(ctx context.Context) error {
	select {
	case <-time.After(dialect.CancelTimeout / 2):
		f.told.Store(true)
	case <-ctx.Done():
	}
	return ctx.Err()
}

// A session unsubscribes all subscriptions concurrently, and then closes the connection.
func TestSubscriptionsEndBeforeTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		all := []*farewell{{}, {}, {}}
		h := &host{}
		for _, st := range all {
			h.subscriptions = append(h.subscriptions, st)
		}
		h.unsubscribe()
		for i, st := range all {
			if !st.told.Load() {
				t.Errorf("subscription %d was not cancelled", i)
			}
		}
		if took := time.Since(begun); took > dialect.CancelTimeout {
			t.Errorf("unsubscribe took %v", took)
		}
	})
}

// A session that ends does not answer hello, and list does not print it.
func TestHostThatEnds(t *testing.T) {
	h := &host{live: make(chan struct{})}
	close(h.live)
	h.life, h.end = context.WithCancelCause(t.Context())
	h.end(errClosed)
	if _, err := h.hello(t.Context(), &relay.Process{}, nil); testkit.Failed(err) != "failed closed" {
		t.Errorf("hello: %v", err)
	}
	at := filepath.Join(t.TempDir(), "s")
	none := endpoint.Endpoint{Socket: at, Session: "s"}
	if _, err := relay.Connect(t.Context(), none); !rundir.IsAbsent(err) {
		t.Errorf("without a socket: %v", err)
	}
	testkit.Listen(t, "unix", at, func(nc net.Conn) {
		_, _ = nc.Read(make([]byte, 1))
		nc.Close()
	})
	for _, path := range []string{at, at + "none"} {
		if s, shown := statusAt(t.Context(), path); shown {
			t.Errorf("%s: %+v", path, s)
		}
	}
}

// endedStream is a stream that has ended with an error, or with io.EOF.
type endedStream struct{ err error }

func (s endedStream) Next(context.Context) (wire.Message, error) { return wire.Message{}, s.err }
func (endedStream) Cancel(context.Context) error                 { return nil }

// A subscription that ends without a final message has an event for its end.
func TestEndOfSubscription(t *testing.T) {
	for _, c := range []struct {
		err   error
		final bool
		want  string
	}{
		{io.EOF, false, "done"},
		{io.EOF, true, ""},
		{errors.New("no more"), false, "error: no more"},
	} {
		h := &host{ring: newRing()}
		h.attend(endedStream{c.err}, wire.Message{Kind: wire.Response, Final: c.final}, "m", &atomic.Bool{})
		got := ""
		for _, k := range h.ring.kept {
			if ev := k.m.Event; ev != nil && ev.Err != nil {
				got += ev.Kind.String() + ": " + ev.Err.Message
			} else if ev != nil {
				got += ev.Kind.String()
			}
		}
		testkit.Expect(t, fmt.Sprintf("the event for the end by %v, final %v", c.err, c.final), got, c.want)
	}
}

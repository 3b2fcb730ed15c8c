package modern

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/server"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// A caller has a connection that is closed. It accepts one notification for each server in open, whose lists change then.
type caller struct {
	dialect.Caller
	open chan *Server
}

func (caller) Connection() *dialect.Connection { return &dialect.Connection{} }

func (c caller) Notify(context.Context, dialect.Op) error {
	select {
	case s := <-c.open:
		s.Changed()
		return nil
	default:
		return io.ErrClosedPipe
	}
}

// A responder has no hooks.
type responder struct{ dialect.Responder }

func (responder) Kind(string) (catalog.Kind, bool) { return "", false }

// A backend has resources.
type backend struct{ dialect.Backend }

func (backend) Catalog() *catalog.Catalog {
	return &catalog.Catalog{Methods: []catalog.Method{{Name: readResource}}}
}

// retryable returns that member of an error's data.
func retryable(err error) string {
	if err == nil {
		return ""
	}
	return string(scan.Get(wire.AsError(err).Data, "retryable"))
}

// A state can be opened with the same caller, call and key, until it expires.
func TestSeal(t *testing.T) {
	key := []byte("0123456789abcdef")
	s := newSeal(key)
	sealed := s.close("state", "ada", "call", time.Minute)
	if got, err := newSeal(key).open(sealed, "ada", "call"); got != "state" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for name, open := range map[string]func() (string, error){
		"another caller": func() (string, error) { return s.open(sealed, "bob", "call") },
		"another call":   func() (string, error) { return s.open(sealed, "ada", "other") },
		"another key":    func() (string, error) { return newSeal(nil).open(sealed, "ada", "call") },
		"changed":        func() (string, error) { return s.open(sealed[:len(sealed)-1], "ada", "call") },
		"empty":          func() (string, error) { return s.open("", "ada", "call") },
		"expired":        func() (string, error) { return s.open(s.close("state", "ada", "call", -time.Second), "ada", "call") },
	} {
		if got, err := open(); err == nil {
			t.Errorf("%s: %q is accepted", name, got)
		}
	}
}

// A repeated call has the same digest, even with additional members or in another order. Other calls have other digests.
func TestDigest(t *testing.T) {
	of := func(params string) string { return digest("tools/call", json.RawMessage(params)) }
	first := of(`{"name":"a","arguments":{"x":1,"y":12345678901234567890}}`)
	if again := of(`{"requestState":"s","inputResponses":{"q1":{}},"_meta":{"z":1},"arguments":{"y":12345678901234567890,"x":1},"name":"a"}`); again != first {
		t.Error("a retry has a different digest")
	}
	for _, other := range []string{`{"name":"a","arguments":{"x":1,"y":12345678901234567891}}`, `{"name":"b"}`, ``} {
		if of(other) == first {
			t.Errorf("%s has the same digest", other)
		}
	}
}

// A run ends when the client has cancelled all of its requests.
func TestCancelledRequests(t *testing.T) {
	ended := false
	other := &request{ctx: t.Context()}
	r := &run{clock: &dialect.Stopwatch{}, cancel: func() { ended = true }, requests: []*request{other}}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.await(&request{ctx: gone}); err != context.Canceled || ended {
		t.Errorf("one of two requests is cancelled: %v, the run has ended: %v", err, ended)
	}
	r.detachLocked(other)
	if _, err := r.await(&request{ctx: gone}); err != context.Canceled || !ended {
		t.Errorf("the only request is cancelled: %v, the run has ended: %v", err, ended)
	}
}

// At most 256 runs wait for their clients. The next one fails until one of them continues.
func TestMostWaiting(t *testing.T) {
	s := &Server{runs: runs{wait: time.Hour, over: make(chan struct{})}, seal: newSeal(nil)}
	c := &Conn{s: s, identity: "ada"}
	wait := func() (*run, error) {
		ended := false
		r := &run{c: c, id: wire.RandomHex(16), method: callTool, clock: &dialect.Stopwatch{}, cancel: func() { ended = true }}
		r.last = &request{ctx: t.Context()}
		_, err := r.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "roots/list"})
		if err == nil {
			t.Fatal("a request was sent without the capability for it")
		}
		req := &request{ctx: t.Context(), params: json.RawMessage(`{"_meta":{"` + MetaCapabilities + `":{"roots":{}}}}`)}
		r.last = req
		if _, err := r.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "roots/list"}); err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if _, err = r.askLocked(req); err != nil && !ended {
			t.Error("a run that cannot wait was not cancelled")
		}
		return r, err
	}
	var first *run
	for range maxWaiting {
		r, err := wait()
		testkit.OK(t, err)
		first = r
	}
	if _, err := wait(); retryable(err) != "true" {
		t.Error("a run above the limit waits", err)
	}
	first.task = &task{}
	if err := first.take(json.RawMessage(`{"q1":{"roots":[]}}`)); err != nil || first.waiting != nil {
		t.Fatal("a task with all responses waits: ", err)
	}
	if _, err := first.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "roots/list"}); err != nil || first.waiting == nil {
		t.Fatal("a task with a request does not wait: ", err)
	}
	first.mu.Lock()
	first.resumeLocked()
	first.mu.Unlock()
	if _, err := wait(); err != nil {
		t.Errorf("after one run has continued: %v", err)
	}
	if _, err := wait(); err == nil {
		t.Error("a run that has continued made room for two")
	}
}

// A header repeats a value in ASCII or Base64. Numbers are compared by value.
func TestCompare(t *testing.T) {
	base64d := "=?base64?" + base64.StdEncoding.EncodeToString([]byte("hé")) + "?="
	for _, c := range []struct {
		header, value string
		fits          bool
	}{
		{"us-west1", `"us-west1"`, true},
		{"us-west2", `"us-west1"`, false},
		{base64d, `"hé"`, true},
		{"h\xc3\xa9", `"hé"`, false},
		{"=?base64?%%?=", `"x"`, false},
		{"42.0", `42`, true},
		{"42x", `42`, false},
		{"42", `"42"`, true},
		{"042", `"42"`, false},
		{"true", `true`, true},
		{"TRUE", `true`, false},
		{"1e999999999", `1`, false},
	} {
		err := compare(http.Header{"Mcp-Param-X": {c.header}}, "Mcp-Param-X", json.RawMessage(c.value))
		if (err == nil) != c.fits {
			t.Errorf("%q for %s: %v", c.header, c.value, err)
		}
	}
	if compare(http.Header{}, "Mcp-Param-X", json.RawMessage(`1`)) == nil || compare(http.Header{"Mcp-Param-X": {"1"}}, "Mcp-Param-X", nil) == nil {
		t.Error("a missing or empty header is accepted")
	}
}

// The numbers of subscriptions, waiting notifications, running tasks and stored tasks are bounded.
func TestMostListenersAndTasks(t *testing.T) {
	s := &Server{}
	c := &Conn{s: s, conn: server.Conn{Caller: caller{}, Backend: backend{}}}
	all := &s.listeners
	l := &listener{methods: []string{"a"}, more: make(chan struct{}, 1)}
	for range maxListeners {
		if !all.add(&listener{more: make(chan struct{}, 1)}) {
			t.Fatal("too few subscriptions")
		}
	}
	if all.add(l) {
		t.Error("a subscription above the limit was added")
	}
	if _, err := c.listen(t.Context(), &dialect.Inbound{Msg: wire.Message{Params: json.RawMessage(`{"notifications":{}}`)}}); retryable(err) != "true" {
		t.Error("a subscription above the limit: ", err)
	}
	var uris, ids []string
	for i := range maxWatched + 1 {
		uris, ids = append(uris, "uri:"+strconv.Itoa(i)), append(ids, strconv.Itoa(i))
		s.runs.byID.Store(strconv.Itoa(i), &run{c: c, id: strconv.Itoa(i), task: &task{}})
	}
	filter, err := new(listener).filter(t.Context(), json.RawMessage(`{"notifications":{"resourceSubscriptions":`+string(scan.TextsOf(uris))+`,"taskIds":`+string(scan.TextsOf(ids))+
		`},"_meta":{"`+MetaCapabilities+`":{"extensions":{"`+Tasks+`":{}}}}}`), c)
	if n, m := len(scan.List(scan.Get(filter, "resourceSubscriptions"))), len(scan.List(scan.Get(filter, "taskIds"))); n != maxWatched || m != maxWatched || err != nil {
		t.Errorf("a subscription to %d resources and %d tasks, %v", n, m, err)
	}
	s.runs.byID.Clear()
	for i := range maxPending + 10 {
		l.put(dialect.Op{Method: "a", Params: json.RawMessage(strconv.Itoa(i))})
		l.put(dialect.Op{Method: "a", Params: json.RawMessage(strconv.Itoa(i))})
	}
	if len(l.pending) != maxPending {
		t.Errorf("%d notifications wait", len(l.pending))
	}
	runs := &s.runs
	for i := range maxTasks + 1 {
		if ok := runs.count(&runs.tasks, maxTasks); ok != (i < maxTasks) {
			t.Fatalf("task %d: %v", i, ok)
		}
	}
	cancelled := false
	if _, err := (&run{c: c, cancel: func() { cancelled = true }}).becomeTaskLocked(&request{}); retryable(err) != "true" || !cancelled {
		t.Error("a task above the limit: ", err)
	}
	for i := range maxTasks + 10 {
		r := &run{id: strconv.Itoa(i), task: &task{}}
		runs.byID.Store(r.id, r)
		runs.forget(r)
	}
	if n := len(maps.Collect(runs.byID.Range)); n != maxTasks || runs.find("0") != nil {
		t.Errorf("%d ended tasks are stored", n)
	}
}

// A question that arises while no request is open is sent in the next round, together with those that the retry does not answer.
func TestQuestionBetweenRequests(t *testing.T) {
	s := &Server{runs: runs{wait: time.Hour, over: make(chan struct{})}, seal: newSeal(nil)}
	r := &run{c: &Conn{s: s, identity: "ada"}, id: wire.RandomHex(16), method: callTool, clock: &dialect.Stopwatch{}, cancel: func() {}}
	open := func(ctx context.Context) *request {
		return &request{ctx: ctx, params: json.RawMessage(`{"_meta":{"` + MetaCapabilities + `":{"roots":{}}}}`)}
	}
	ask := func() {
		if _, err := r.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "roots/list"}); err != nil {
			t.Fatal(err)
		}
	}
	round := func(want ...string) {
		result, err := r.await(open(t.Context()))
		testkit.OK(t, err)
		var asked []string
		for key := range scan.Named(scan.Get(result, "inputRequests")) {
			asked = append(asked, key)
		}
		if !slices.Equal(asked, want) {
			t.Errorf("input requests %v, want %v", asked, want)
		}
	}
	r.last = open(t.Context())
	ask()
	ask()
	round("q1", "q2")
	ask() // no request is open here
	testkit.OK(t, r.take(json.RawMessage(`{"q1":{"roots":[]}}`)))
	round("q2", "q3")
	testkit.OK(t, r.take(json.RawMessage(`{"q2":{"roots":[]},"q3":{"roots":[]}}`)))
	ask()
	round("q4")
	withdrawn, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Call(withdrawn, "roots/list", nil); err != context.Canceled || len(r.questions) != 1 {
		t.Errorf("a question that is withdrawn: %v, %d questions", err, len(r.questions))
	}
	if _, err := r.Open(t.Context(), dialect.Op{Kind: dialect.Subscribe, Method: "roots/list"}); err != wire.ErrUnsupported {
		t.Error("a hook subscribes: ", err)
	}
	last := r.questions[0]
	if r.CloseWith(0, ""); r.why == nil {
		t.Error("closing does not stop the run")
	}
	r.end(nil, context.Canceled)
	if _, err := last.Next(t.Context()); err == nil || err.Error() != "the call has ended" {
		t.Error("a question after the end: ", err)
	}
	if _, err := r.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "roots/list"}); err == nil || err.Error() != "the call has ended" {
		t.Error("another question after the end: ", err)
	}
	if _, err := r.await(open(t.Context())); err != r.why {
		t.Error("the result after the end: ", err)
	}
	r.task = &task{}
	if got := scan.Get(r.detailLocked(), "error"); string(got) != string(r.why.JSON()) {
		t.Errorf("a task that was stopped has the error %s", got)
	}
}

// Runs that have asked, and tasks, are stored for some time after their end.
func TestEndedRunsExpire(t *testing.T) {
	for keep, r := range map[time.Duration]*run{0: {}, keepEnded: {count: 1}, taskKept: {task: &task{}}} {
		synctest.Test(t, func(t *testing.T) {
			runs := &runs{}
			runs.byID.Store(r.id, r)
			runs.forget(r)
			if keep > 0 {
				time.Sleep(keep - 1)
				if runs.find("") == nil {
					t.Errorf("not stored for %v", keep)
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
			}
			if runs.find("") != nil || len(runs.ended)+len(runs.done) > 0 {
				t.Errorf("still stored after %v", keep)
			}
		})
	}
}

// A subscription ends when a notification cannot be sent, and a call fails if the responses for its hook cannot be stored.
func TestFailures(t *testing.T) {
	open := make(chan *Server, 1)
	c := &Conn{s: &Server{}, conn: server.Conn{Caller: caller{open: open}, Responder: responder{}}}
	in := &dialect.Inbound{Msg: wire.Message{Method: callTool, Params: json.RawMessage(`{"notifications":{"toolsListChanged":true},"inputResponses":{}}`)}}
	for n := range 2 {
		if _, err := c.listen(t.Context(), in); err != io.ErrClosedPipe || len(c.s.listeners.all) > 0 {
			t.Error("a notification that cannot be sent, after", n, "others: ", err)
		}
		open <- c.s
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if _, err := c.s.begin(c, in, nil, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Error("without a directory for temporary files: ", err)
	}
}

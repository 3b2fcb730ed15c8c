package modern

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

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

// At most 256 runs wait for their clients. The next one fails until one of them continues.
func TestMostWaiting(t *testing.T) {
	s := &Server{runs: runs{wait: time.Hour, byID: map[string]*run{}, over: make(chan struct{})}, seal: newSeal(nil)}
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
		if err != nil {
			t.Fatal(err)
		}
		first = r
	}
	if _, err := wait(); err == nil {
		t.Error("a run above the limit waits")
	}
	if err := first.take(json.RawMessage(`{"q1":{"roots":[]}}`)); err != nil {
		t.Fatal(err)
	}
	first.mu.Lock()
	first.resumeLocked()
	first.mu.Unlock()
	if _, err := wait(); err != nil {
		t.Errorf("after one run has continued: %v", err)
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

// A work limit does not advance while the stopwatch is stopped.
func TestStopwatch(t *testing.T) {
	var w dialect.Stopwatch
	w.Stop()
	ctx, end := dialect.WithWorkLimit(dialect.WithStopwatch(t.Context(), &w), time.Millisecond, context.DeadlineExceeded)
	defer end()
	other, endOther := dialect.WithWorkLimit(t.Context(), 20*time.Millisecond, context.DeadlineExceeded)
	defer endOther()
	<-other.Done()
	if ctx.Err() != nil {
		t.Error("the timeout expired while the clock was stopped")
	}
	w.Start()
	<-ctx.Done()
	if context.Cause(ctx) != context.DeadlineExceeded {
		t.Error(context.Cause(ctx))
	}
}

// The numbers of subscriptions, waiting notifications, running tasks and stored tasks are bounded.
func TestMostListenersAndTasks(t *testing.T) {
	var all listeners
	l := &listener{methods: []string{"a"}, more: make(chan struct{}, 1)}
	for range maxListeners {
		if !all.add(&listener{more: make(chan struct{}, 1)}) {
			t.Fatal("too few subscriptions")
		}
	}
	if all.add(l) {
		t.Error("a subscription above the limit was added")
	}
	for i := range maxPending + 10 {
		l.put(dialect.Op{Method: "a", Params: json.RawMessage(strconv.Itoa(i))})
		l.put(dialect.Op{Method: "a", Params: json.RawMessage(strconv.Itoa(i))})
	}
	if len(l.pending) != maxPending {
		t.Errorf("%d notifications wait", len(l.pending))
	}
	runs := runs{byID: map[string]*run{}}
	for i := range maxTasks + 1 {
		if ok := runs.addTask(); ok != (i < maxTasks) {
			t.Fatalf("task %d: %v", i, ok)
		}
	}
	for i := range maxTasks + 10 {
		r := &run{id: strconv.Itoa(i), task: &task{}}
		runs.add(r)
		runs.forget(r)
	}
	if len(runs.byID) != maxTasks || runs.find("0") != nil {
		t.Errorf("%d ended tasks are stored", len(runs.byID))
	}
}

// A question that arises while no request is open is sent in the next round, together with those that the retry does not answer.
func TestQuestionBetweenRequests(t *testing.T) {
	s := &Server{runs: runs{wait: time.Hour, byID: map[string]*run{}, over: make(chan struct{})}, seal: newSeal(nil)}
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
		if err != nil {
			t.Fatal(err)
		}
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
	if err := r.take(json.RawMessage(`{"q1":{"roots":[]}}`)); err != nil {
		t.Fatal(err)
	}
	round("q2", "q3")
	if err := r.take(json.RawMessage(`{"q2":{"roots":[]},"q3":{"roots":[]}}`)); err != nil {
		t.Fatal(err)
	}
	ask()
	round("q4")
}

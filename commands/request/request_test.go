package request

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// run makes one call of the demo and returns what it prints.
func run(t *testing.T, op dialect.Op, more func(r *Request)) (string, error) {
	t.Helper()
	var out strings.Builder
	print, err := format.New(&out, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := session.ParseEndpoint("demo:orders", "")
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	a := &env.Env{Console: format.NewConsole(&stderr, format.ConsoleOptions{}), Signal: context.Background()}
	a.Line = &cmdline.CommandLine{Cmd: &cmdline.Command{}, Args: []string{"demo:orders", op.Method}}
	r := &Request{
		Env: a, Client: &options.Client{}, Endpoint: e, Print: print,
		Operation: func(endpoint.Endpoint, *catalog.Catalog) (dialect.Op, error) { return op, nil },
	}
	if more != nil {
		more(r)
	}
	err = r.Do(context.Background())
	return out.String(), err
}

// TestLife: a request prints its result; what the peer lacks is its outcome, and
// what comes after success does not happen then.
func TestLife(t *testing.T) {
	done := false
	then := func(r *Request) { r.Then = func(context.Context) error { done = true; return nil } }
	out, err := run(t, dialect.Op{Kind: dialect.Call, Method: "getOrder", Params: json.RawMessage(`{"id":"o_001"}`)}, then)
	if err != nil || !strings.Contains(out, `"o_001"`) || !done {
		t.Errorf("%s, %v, %t", out, err, done)
	}
	done = false
	out, err = run(t, dialect.Op{Kind: dialect.Call, Method: "getOrdre"}, then)
	if f := wire.AsFault(err); f == nil || f.Kind != wire.RPCError || out != "" || done {
		t.Errorf("%q, %v, %t", out, err, done)
	}
}

// TestBefore: where nothing need be sent, no connection is opened.
func TestBefore(t *testing.T) {
	_, err := run(t, dialect.Op{Kind: dialect.Call, Method: "m"}, func(r *Request) {
		r.Before = func(dialect.Op) (bool, error) { return true, nil }
		r.Started = func(*env.Deadline) { t.Error("it is opened") }
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRetry: only what the peer says may be made again is made again.
func TestRetry(t *testing.T) {
	again, made := true, 0
	retryable := func(r *Request) {
		r.Env.Console = format.NewConsole(new(strings.Builder), format.ConsoleOptions{})
		r.Retries = Retries{N: 1}
		r.Consume = func(*ResponsePrinter, dialect.Op) error {
			made++
			return &wire.Fault{Kind: wire.RPCError, Message: "busy", Retryable: &again}
		}
	}
	for _, want := range []int{2, 1} {
		if made = 0; want == 1 {
			again = false
		}
		if _, err := run(t, dialect.Op{Kind: dialect.Call, Method: "m"}, retryable); err == nil || made != want {
			t.Errorf("%d attempts, %v", made, err)
		}
	}
}

// TestRetries: what an HTTP status allows, and what only --retry-unsafe does.
func TestRetries(t *testing.T) {
	answered := func(kind wire.FaultKind, status int) *wire.Fault {
		return &wire.Fault{Kind: kind, HTTP: &wire.HTTP{Status: status}}
	}
	no := false
	for _, c := range []struct {
		f            *wire.Fault
		safe, unsafe bool
	}{
		{answered(wire.RPCError, 429), true, true},
		{answered(wire.Unreachable, 503), true, true},
		{answered(wire.Unreachable, 502), false, true},
		{answered(wire.Unreachable, 504), false, true},
		{answered(wire.RPCError, 500), false, false},
		{answered(wire.Unreachable, 404), false, false},
		{&wire.Fault{Kind: wire.Closed}, false, true},
		{&wire.Fault{Kind: wire.RPCError}, false, false},
		{&wire.Fault{Kind: wire.RPCError, Retryable: &no}, false, false},
	} {
		if got := (Retries{N: 1}).allows(c.f, true); got != c.safe {
			t.Errorf("%+v: %t", c.f, got)
		}
		if got := (Retries{N: 1, Unsafe: true}).allows(c.f, true); got != c.unsafe {
			t.Errorf("%+v, unsafe: %t", c.f, got)
		}
	}
	if (Retries{N: 1, Unsafe: true}).allows(&wire.Fault{Kind: wire.Closed}, false) {
		t.Error("a call is made again on a connection that has ended")
	}
}

// TestOutgoing: a typed message gets the member that its dialect wants, and no other.
func TestOutgoing(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,"method":"m"}`:          `{"jsonrpc":"2.0","id":1,"method":"m"}`,
		`[{"id":1,"result":2},{"x":1}]`:  `[{"jsonrpc":"2.0","id":1,"result":2},{"x":1}]`,
		`{"jsonrpc":"1.9","method":"m"}`: `{"jsonrpc":"1.9","method":"m"}`,
	} {
		if got, err := Outgoing([]byte(line), "jsonrpc"); err != nil || string(got) != want {
			t.Errorf("%s becomes %s, %v", line, got, err)
		}
	}
	if _, err := Outgoing([]byte("5"), "jsonrpc"); err == nil {
		t.Error("5 is a message")
	}
}

// TestNamed: a failure says of which call it is, once.
func TestNamed(t *testing.T) {
	f := wire.AsFault(named(&wire.Fault{Kind: wire.Closed}, "m"))
	if f == nil || f.Method != "m" || wire.AsFault(named(f, "n")).Method != "m" {
		t.Errorf("%+v", f)
	}
	other := errors.New("other")
	if named(other, "m") != other {
		t.Error("an error that is no Fault is replaced")
	}
}

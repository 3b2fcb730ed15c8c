package request

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"rpcx/commands/artifacts"
	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// run makes one call to the demo, and returns the output on stdout and stderr.
func run(t *testing.T, op dialect.Op, more func(r *Request)) (stdout, notes string, err error) {
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
		Env: a, Client: &options.Client{}, Endpoint: e, Print: print, Op: op,
	}
	if more != nil {
		more(r)
	}
	err = r.Do(context.Background())
	return out.String(), stderr.String(), err
}

// TestLife checks that a request prints its result and saves the files in it, and that a call without a result is an error and saves none.
func TestLife(t *testing.T) {
	files := func(r *Request) { r.Files = &artifacts.Flags{Dir: t.TempDir()} }
	out, notes, err := run(t, dialect.Op{Kind: dialect.Call, Method: "getOrder", Params: json.RawMessage(`{"id":"o_001"}`)}, files)
	if err != nil || !strings.Contains(out, `"o_001"`) || !strings.Contains(notes, "no artifacts to save") {
		t.Errorf("%s, %s, %v", out, notes, err)
	}
	out, notes, err = run(t, dialect.Op{Kind: dialect.Call, Method: "getOrdre"}, files)
	if f := wire.AsFault(err); f == nil || f.Kind != wire.RPCError || out != "" || notes != "" {
		t.Errorf("%q, %q, %v", out, notes, err)
	}
}

// TestNotOpened checks that no connection is opened if there is nothing to send.
func TestNotOpened(t *testing.T) {
	_, _, err := run(t, dialect.Op{Kind: dialect.Call}, func(r *Request) {
		r.Params.DryRun = true
		r.Endpoint, _ = session.ParseEndpoint("unix:"+t.TempDir()+"/absent", "")
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRetry checks that only errors that the peer marks as retryable are retried, and that a timeout names the last failure.
func TestRetry(t *testing.T) {
	a := &env.Env{Console: format.NewConsole(new(strings.Builder), format.ConsoleOptions{})}
	for again, want := range map[bool]int{true: 2, false: 1} {
		made := 0
		err := Retries{N: 1}.retry(a, env.NewDeadline(t.Context(), 0, 0), false, func() error {
			made++
			return &wire.Fault{Kind: wire.RPCError, Message: "busy", Retryable: &again}
		})
		if err == nil || made != want {
			t.Errorf("%d attempts, %v", made, err)
		}
	}
	err := Retries{N: 1}.retry(a, env.NewDeadline(t.Context(), time.Millisecond, 0), true, func() error {
		return &wire.Fault{Message: "busy", HTTP: &wire.HTTP{Status: 503, RetryAfter: 60}, Retryable: new(true)}
	})
	if f := wire.AsFault(err); f == nil || f.Kind != wire.Timeout || f.Hint != "busy" {
		t.Errorf("a timeout before a retry: %v", err)
	}
}

// TestRetries checks which HTTP statuses allow a retry, and which only with --retry-unsafe.
func TestRetries(t *testing.T) {
	answered := func(kind wire.FaultKind, status int) *wire.Fault {
		f := transport.HTTPFault("", &http.Response{StatusCode: status, Header: http.Header{}}, nil)
		f.Kind = kind
		return f
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
		t.Error("a call is retried on a connection that has ended")
	}
}

// TestOutgoing checks that a typed message gets only the member that its dialect requires.
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
		t.Error("5 is accepted as a message")
	}
}

// TestNamed checks that an error gets the name of its method once.
func TestNamed(t *testing.T) {
	f := wire.AsFault(named(&wire.Fault{Kind: wire.Closed}, "m"))
	if f == nil || f.Method != "m" || wire.AsFault(named(f, "n")).Method != "m" {
		t.Errorf("%+v", f)
	}
	other := errors.New("other")
	if named(other, "m") != other {
		t.Error("an error that is not a Fault was replaced")
	}
}

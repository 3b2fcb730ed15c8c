package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// evaluation returns an evaluation with the bindings echo, sum (provided by the client) and refuse (which fails).
func evaluation(session, code string) dialect.Code {
	return dialect.Code{
		Session: session, Code: code, Names: []string{"echo", "refuse", "if", "with.dot", "map"},
		Invoke: func(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
			switch name {
			case "refuse":
				return nil, wire.NewError(wire.CodeRefused, "refused")
			case "gone":
				return nil, wire.NewFault(wire.Closed, "the client has disconnected", nil)
			case "wait":
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return fmt.Appendf(nil, `{"name":%q,"input":%s}`, name, scan.OrNull(input)), nil
		},
		Function: func(name string) json.RawMessage { return fmt.Appendf(nil, `{"$fn":%q}`, name) },
	}
}

// evaluated returns the outcome of an evaluation as a line.
func evaluated(ctx context.Context, r dialect.Runtime, e dialect.Code) string {
	value, err := r.Eval(ctx, e)
	var failed *dialect.EvalError
	switch {
	case errors.As(err, &failed) && failed.Cause != nil:
		return "failed: " + failed.Message + " caused by " + string(failed.Cause.Code)
	case errors.As(err, &failed):
		return strings.TrimSpace("failed: " + failed.Kind + " " + failed.Message + " " + failed.Stack)
	case err != nil:
		return "error: " + err.Error()
	}
	return string(value)
}

func TestJQRuntime(t *testing.T) {
	r, err := NewRuntime("jq", RuntimeOptions{})
	testkit.OK(t, err)
	defer r.Close()
	for _, tt := range []struct{ code, want string }{
		{`echo({a: 1})`, `{"input":{"a":1},"name":"echo"}`},
		{`echo({a: 1}) | .name`, `"echo"`},
		{`[range(3) | echo(.).input]`, `[0,1,2]`},
		{`1, 2, 3`, `3`},
		{`empty`, ``}, // no value
		{`12345678901234567890`, `12345678901234567890`},
		{`invoke("with.dot"; 1).name`, `"with.dot"`},
		{`invoke("ref:f1"; null).name`, `"ref:f1"`},
		{`map(1) | .name`, `"map"`}, // a binding takes precedence over a jq function
		{`$state`, `null`},
		{`setState({n: 1}) | .n`, `1`},
		{`$state`, `{"n":1}`},
		{`setState($state.n + 1), $state`, `{"n":1}`}, // $state has the value from before the code ran
		{`$state`, `2`},
		{`function("echo")`, `{"$fn":"echo"}`},
		{`function("nope")`, `failed:  jq: function needs the name of a binding`},
		{`invoke(1; 1)`, `failed:  jq: invoke needs the name of a binding`},
		{`refuse(1)`, `failed: refuse: refused caused by -32001`},
		{`try refuse(1) catch .code`, `-32001`},
		{`gone`, `failed:  jq: function not defined: gone/0 in: gone`},
		{`invoke("gone"; 1)`, `failed:  jq: the client has disconnected`},
		{`if(1)`, `failed:  jq: unexpected EOF at offset 5 of: if(1)`},
		{`error("x")`, `failed:  jq: error: x`},
		{`1 +`, `failed:  jq: unexpected EOF at offset 3 of: 1 +`},
		{`env | length`, `0`},
	} {
		testkit.Expect(t, tt.code, evaluated(t.Context(), r, evaluation("a", tt.code)), tt.want)
	}
	bare := evaluation("a", `function("echo")`)
	bare.Function = nil
	testkit.Expect(t, "function values", evaluated(t.Context(), r, bare), "failed:  jq: function values are not supported here")
	// Bindings can have the names of keywords.
	for _, word := range keywords {
		e := evaluation("c", word+" | null, 1")
		e.Names = []string{word}
		bare := evaluation("c", e.Code)
		bare.Names = nil
		testkit.Expect(t, "with a binding named "+word, evaluated(t.Context(), r, e), evaluated(t.Context(), r, bare))
	}
	testkit.Expect(t, "another session's state", evaluated(t.Context(), r, evaluation("b", `$state`)), "null")
	r.Forget("a")
	testkit.Expect(t, "the state after Forget", evaluated(t.Context(), r, evaluation("a", `$state`)), "null")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, code := range []string{`last(repeat(1))`, `invoke("wait"; 1)`} {
		if _, err := r.Eval(ctx, evaluation("a", code)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// heard collects warnings.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) warn(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
}

func (h *heard) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "|")
}

// coTest is a co-process written for sh that answers each line as a case specifies.
const coTest = `while read -r line; do id=${line#*:}; id=${id%%[,\}]*}; case $line in
*'"eval":"value"'*) echo "{\"id\":$id,\"value\":{\"n\":1.10}}";;
*'"eval":"nothing"'*) echo "{\"id\":$id}";;
*'"eval":"twice"'*) echo "{\"id\":$id,\"value\":1}"; echo "{\"id\":$id,\"value\":2}";;
*'"eval":"session"'*) s=${line##*:}; echo "{\"id\":$id,\"value\":${s%\}}}";;
*'"eval":"fail"'*) echo "{\"id\":$id,\"error\":{\"kind\":\"TypeError\",\"message\":\"m\",\"stack\":\"at 1\"}}";;
*'"eval":"odd"'*) echo "{\"id\":$id,\"error\":5}";;
*'"eval":"noise"'*) echo 'not JSON'; echo 'nor this'; echo '{"value":1}'; echo '{"id":99,"value":1}'; echo "{\"id\":$id,\"value\":3}";;
*'"eval":"invoke"'*) echo "{\"id\":$id,\"invoke\":{\"call\":\"a\",\"name\":\"echo\",\"input\":[1]}}"; echo "{\"id\":$id,\"invoke\":{\"call\":2,\"name\":\"refuse\"}}"
  read -r one; read -r two; echo "{\"id\":$id,\"value\":[$one,$two]}";;
*'"eval":"die"'*) echo 'last words' >&2; exit 3;;
*'"eval":"wait"'*) :;;
*'"eval":"loop"'*) echo "{\"id\":$id,\"invoke\":{\"call\":1,\"name\":\"begun\"}}"; tail -f /dev/null;;
*'"cancel":true'*) echo "{\"id\":$id,\"error\":{\"message\":\"cancelled\"}}";;
*'"reset":true'*) resets="$resets $line";;
*'"eval":"resets"'*) echo "{\"id\":$id,\"value\":$(echo "$resets" | wc -w)}";;
esac; done`

func TestCoRuntime(t *testing.T) {
	var said heard
	r, err := NewRuntime("co:"+coTest, RuntimeOptions{Warn: said.warn})
	testkit.OK(t, err)
	r.Forget("nobody") // before the co-process has started
	for _, tt := range []struct{ code, want string }{
		{"value", `{"n":1.10}`},
		{"nothing", ``}, // no value
		{"twice", `1`},
		{"session", `"a"`},
		{"fail", `failed: TypeError m at 1`},
		{"odd", `failed:  the code failed`},
		{"noise", `3`},
		{"die", `error: the runtime failed (code -32603)`},
		{"value", `{"n":1.10}`}, // the co-process has been restarted
		{"resets", `0`},
	} {
		testkit.Expect(t, tt.code, evaluated(t.Context(), r, evaluation("a", tt.code)), tt.want)
	}
	got := evaluated(t.Context(), r, evaluation("a", "invoke"))
	for _, want := range []string{
		`{"id":11,"call":"a","value":{"name":"echo","input":[1]}}`,
		`{"id":11,"call":2,"error":{"code":-32001,"message":"refused"}}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	evaluated(t.Context(), r, evaluation("b", "value"))
	r.Forget("a")
	r.Forget("b")
	r.Forget("b")
	r.Forget("nobody") // unknown to the co-process
	testkit.Expect(t, "resets", evaluated(t.Context(), r, evaluation("a", "resets")), "2")
	testkit.OK(t, r.Close())
	testkit.Expect(t, "after Close", evaluated(t.Context(), r, evaluation("a", "value")), "error: the server is being closed")
	if got, want := said.all(), `the runtime printed a line that is not an answer: "not JSON"|the runtime did not answer: it ended with status 3: last words`; got != want {
		t.Errorf("warnings:\n got %s\nwant %s", got, want)
	}
}

// Closing the runtime first ends each session in the co-process, and then closes its stdin. The reader, which can be slow, is in a
// session of its own and thus not killed.
func TestCoRuntimeEndsSessions(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	script := `while read -r line; do case $line in
		*reset*) echo "$line" >>resets;;
		*) id=${line#*:}; echo "{\"id\":${id%%,*}}";;
		esac; done; mv resets all`
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o600))
	r, err := NewRuntime("co:cd '"+dir+"'; exec 3<&0; setsid sh script <&3 & wait", RuntimeOptions{})
	testkit.OK(t, err)
	for _, session := range []string{"b", "a", "gone", "a"} {
		if got := evaluated(t.Context(), r, evaluation(session, "1")); got != "" {
			t.Fatal(got)
		}
	}
	r.Forget("gone")
	testkit.OK(t, r.Close())
	var got []byte
	for end := time.Now().Add(time.Minute); got == nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		got, _ = os.ReadFile(filepath.Join(dir, "all"))
	}
	testkit.Expect(t, "what the co-process got", string(got), `{"session":"gone","reset":true}`+"\n"+`{"session":"a","reset":true}`+"\n"+`{"session":"b","reset":true}`+"\n")
}

// Closing waits only briefly for a co-process that does not read.
func TestCoRuntimeThatDoesNotRead(t *testing.T) {
	r, err := NewRuntime(`co:exec sleep 3600`, RuntimeOptions{})
	testkit.OK(t, err)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		evaluated(ctx, r, evaluation("a", strings.Repeat("x", 1<<20)))
	}
	testkit.OK(t, r.Close())
}

// When a client closes, its evals and their calls are cancelled.
func TestCoRuntimeCancels(t *testing.T) {
	r, err := NewRuntime("co:"+coTest, RuntimeOptions{})
	testkit.OK(t, err)
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan string)
	go func() { done <- evaluated(ctx, r, evaluation("a", "wait")) }()
	testkit.Expect(t, "another client", evaluated(t.Context(), r, evaluation("b", "value")), `{"n":1.10}`) // other clients do not wait
	cancel()
	testkit.Expect(t, "a cancelled evaluation", <-done, "error: context canceled")
	testkit.Expect(t, "the next evaluation", evaluated(t.Context(), r, evaluation("a", "value")), `{"n":1.10}`)
}

// Endless code delays other evals up to the time limit. Then rpcx warns and restarts the co-process.
func TestCoRuntimeStalls(t *testing.T) {
	var said heard
	r := newCo(coTest, RuntimeOptions{Warn: said.warn})
	r.cancelLimit, r.stall = 50*time.Millisecond, 100*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	loop, begun, done := evaluation("a", "loop"), make(chan bool), make(chan string)
	loop.Invoke = func(context.Context, string, json.RawMessage) (json.RawMessage, error) { close(begun); return nil, nil }
	go func() { done <- evaluated(ctx, r, loop) }()
	<-begun
	cancel()
	testkit.Expect(t, "a cancelled evaluation", <-done, "error: context canceled")
	testkit.Expect(t, "an evaluation that waits", evaluated(t.Context(), r, evaluation("b", "value")), "error: the runtime failed (code -32603)")
	testkit.Expect(t, "the next evaluation", evaluated(t.Context(), r, evaluation("b", "value")), `{"n":1.10}`)
	testkit.OK(t, r.Close())
	if got := said.all(); !strings.HasPrefix(got, "the runtime is still running cancelled code; other evaluations may have to wait|"+
		"no output from the runtime for 100ms: restarted it; the state of all sessions is lost") {
		t.Error(got)
	}
}

func TestRuntimesThatAreNone(t *testing.T) {
	for spec, want := range map[string]string{
		"js":  `unknown runtime "js"; use jq or co:COMMAND`,
		"co:": `"co:" contains no command`,
	} {
		_, err := NewRuntime(spec, RuntimeOptions{})
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || f.Message != want {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for command, want := range map[string]string{
		"exit 1":                          "the runtime did not answer: it ended with status 1",
		"tr '\\0' ' ' </dev/zero":         "the runtime did not answer: it was killed by SIGTERM|the runtime printed more than 64 MiB on one line",
		": " + strings.Repeat("x", 4<<20): "the runtime could not be started: sh cannot be started: argument list too long",
	} {
		var said heard
		r, err := NewRuntime("co:"+command, RuntimeOptions{Warn: said.warn})
		testkit.OK(t, err)
		what := fmt.Sprintf("%.20s", command)
		testkit.Expect(t, what, evaluated(t.Context(), r, evaluation("a", "1")), "error: the runtime failed (code -32603)")
		_ = r.Close()
		slices.Sort(said.lines)
		testkit.Expect(t, what, said.all(), want)
	}
}

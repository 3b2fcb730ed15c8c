package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func TestLinesAreEventsAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{}, `m=lines:echo '{"n":1}'; while ! [ -e $T/seen ]; do sleep 0.01; done; printf '\n 2.0 \r\n'; printf '"last"'`)
	var events []string
	_, err := w.Answer(t.Context(), dialect.Request{Method: "m", Stream: true, Emit: func(e wire.Event) error {
		events = append(events, string(e.AppendJSON(nil)))
		w.write("seen", "")
		return nil
	}})
	testkit.OK(t, err)
	testkit.Expect(t, "events", strings.Join(events, "\n"), `{"event":"data","data":{"n":1}}
{"event":"data","data":2.0}
{"event":"data","data":"last"}`)
}

func TestEventLines(t *testing.T) {
	tests := []struct{ line, want string }{
		{`{"data":{"a":1.0}}`, `{"event":"data","data":{"a":1.0}}`},
		{`{"data":null}`, `{"event":"data","data":null}`},
		{`{"data":1,"content_type":"text/x"}`, `{"event":"data","content_type":"text/x","data":1}`},
		{`{"data":1,"id":2}`, `{"event":"data","data":{"data":1,"id":2}}`},
		{`{"data":1,"data":2}`, `{"event":"data","data":{"data":1,"data":2}}`},
		{`{"data":1,"log":2}`, `{"event":"data","data":{"data":1,"log":2}}`},
		{`{"fraction":0.5}`, `{"event":"data","data":{"fraction":0.5}}`},
		{`{}`, `{"event":"data","data":{}}`},
		{`[{"data":1}]`, `{"event":"data","data":[{"data":1}]}`},
		{`{"progress":"half","fraction":0.50}`, `{"event":"progress","message":"half","fraction":0.50}`},
		{`{"progress":0.25}`, `{"event":"progress","message":"","fraction":0.25}`},
		{`{"progress":25}`, `{"event":"progress","message":"25"}`},
		{`{"log":"hi"}`, `{"event":"log","level":"info","message":"hi"}`},
		{`{"log":{"level":"warn","message":"hi"}}`, `{"event":"log","level":"warn","message":"hi"}`},
		{`{"error":{"code":5,"message":"no","data":[1]}}`, `{"event":"error","code":5,"message":"no","data":[1]}`},
		{`{"error":"no"}`, `{"event":"error","code":-32000,"message":"no"}`},
		{`{"error":{"message":"no","data":[1]}}`, `{"event":"error","code":-32000,"message":"no","data":[1]}`},
		{`{"error":{"why":1}}`, `{"event":"error","code":-32000,"message":"{\"why\":1}"}`},
		{`{"data":1,"recoverable":true}`, `{"event":"data","data":{"data":1,"recoverable":true}}`},
		{`{"error":"oops","recoverable":true}`, `{"event":"error","code":-32000,"message":"oops","extra":{"recoverable":true}}`},
		{`{"error":"oops","recoverable":"so"}`, `{"event":"data","data":{"error":"oops","recoverable":"so"}}`},
	}
	for _, tt := range tests {
		testkit.Expect(t, tt.line, string(event([]byte(tt.line)).AppendJSON(nil)), tt.want)
	}
}

func TestLinesOfACall(t *testing.T) {
	t.Parallel()
	const failed = `error {"code":-32603,"message":"the hook failed"}`
	tests := []struct{ answer, want, events string }{
		{`echo '{"progress":"a"}'; echo 1; echo '{"log":"b"}'; echo '{"data":2}'`, "2", `{"event":"progress","message":"a"}{"event":"log","level":"info","message":"b"}`},
		{`true`, "null", ""},
		{`echo '{"error":{"code":4,"message":"x"}}'`, `error {"code":4,"message":"x"}`, ""},
		{`echo '{"error":"x"}'; echo 3`, "3", ""},
		{`echo 3; echo '{"error":"x"}'`, `error {"code":-32000,"message":"x"}`, ""},
		{`echo '{"code":4,"message":"x"}'; exit 3`, `error {"code":4,"message":"x"}`, ""},
		{`echo '{"error":{"code":4,"message":"x"}}'; exit 3`, `error {"code":4,"message":"x"}`, ""},
		{`echo 3; exit 77`, `error {"code":-32001,"message":"refused"}`, ""},
		{`echo 3; echo text; sleep 1000`, failed, ""},
	}
	for _, tt := range tests {
		w := newWorld(t, Options{}, Binding{}, "m=lines:"+tt.answer)
		events := ""
		got := w.ask(t.Context(), dialect.Request{Method: "m", Emit: func(e wire.Event) error {
			events += string(e.AppendJSON(nil))
			return nil
		}})
		testkit.Expect(t, tt.answer, got, tt.want)
		testkit.Expect(t, tt.answer, events, tt.events)
		if !strings.Contains(tt.answer, "text") {
			testkit.Expect(t, "without a listener", w.call("m", ""), tt.want)
		}
	}
}

func TestStreamsOfEachKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{},
		"lines=lines:echo 1; echo '{\"progress\":\"x\"}'; echo 2; exit 75", "sh=echo '[1,2]'", "text=text:echo hi", "json=json:5", "jq=jq:.[]",
		"jqfail=jq:1, fail(7; \"x\")", "deny=deny", "co=co:read l; echo '{\"id\":1,\"result\":9}'; read l", "bad=lines:echo 1; echo oops; sleep 1000")
	tests := []struct{ method, events, err string }{
		{"lines", `{"event":"data","data":1}{"event":"progress","message":"x"}{"event":"data","data":2}`, `error {"code":-32000,"message":"unavailable","data":{"retryable":true}}`},
		{"sh", `{"event":"data","data":[1,2]}`, ""},
		{"text", `{"event":"data","data":"hi"}`, ""},
		{"json", `{"event":"data","data":5}`, ""},
		{"jq", `{"event":"data","data":"a"}{"event":"data","data":"b"}`, ""},
		{"jqfail", `{"event":"data","data":1}`, `error {"code":7,"message":"x"}`},
		{"deny", ``, `error {"code":-32001,"message":"refused"}`},
		{"co", `{"event":"data","data":9}`, ""},
		{"bad", `{"event":"data","data":1}`, `error {"code":-32603,"message":"the hook failed"}`},
	}
	for _, tt := range tests {
		events, err := w.stream(tt.method, `["a","b"]`)
		testkit.Expect(t, tt.method, strings.Join(events, ""), tt.events)
		testkit.Expect(t, tt.method, err, tt.err)
	}
}

func TestStreamEndsWithoutAListener(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{Timeout: time.Minute}, Binding{}, `m=lines:echo $$ > $T/pid; while :; do echo 1; sleep 0.01; done`, `j=jq:repeat(1)`, `json=json:1`)
	gone := errors.New("nobody listens")
	for m, last := range map[string]int{"m": 3, "j": 3, "json": 1} {
		n := 0
		_, err := w.Answer(t.Context(), dialect.Request{Method: m, Stream: true, Emit: func(wire.Event) error {
			if n++; n == last {
				return gone
			}
			return nil
		}})
		if n != last || err != gone {
			t.Errorf("%s: %d events, %v", m, n, err)
		}
	}
	w.pidGone("pid")
	testkit.Expect(t, "failures", w.failures(), "")
}

func TestStreamsHaveNoTimeLimitOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		timeout time.Duration
		r       dialect.Request
		want    time.Duration
	}{
		{0, dialect.Request{}, DefaultTimeout},
		{0, dialect.Request{Stream: true}, 0},
		{0, dialect.Request{Stream: true, Whole: true}, DefaultTimeout},
		{0, dialect.Request{Stream: true, Notification: true}, DefaultTimeout},
		{-1, dialect.Request{}, 0},
		{5, dialect.Request{Stream: true}, 5},
	} {
		testkit.Expect(t, fmt.Sprintf("%+v", c), (Options{Timeout: c.timeout}).limit(c.r), c.want)
	}
}

// A caller answers rpc calls from jq.
type caller struct {
	dialect.Caller
	call func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

func (c caller) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.call(ctx, method, params)
}

func (c caller) CallOp(ctx context.Context, op dialect.Op) (json.RawMessage, error) {
	return c.call(ctx, op.Method, op.Params)
}

func (c caller) Notify(_ context.Context, op dialect.Op) error {
	if op.Method != "tick" || string(op.Params) != "[1]" {
		return errors.New("gone")
	}
	return nil
}

func TestJQ(t *testing.T) {
	t.Setenv("SECRET", "x")
	far := caller{call: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		switch method {
		case "add":
			return json.RawMessage(`{"sum":12345678901234567890,"of":` + string(params) + `}`), nil
		case "params":
			return json.Marshal(params == nil)
		case "wait":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		e := wire.NewError(-5, "no")
		e.Raw = json.RawMessage(`{"code":-5,"message":"no","data":1.0}`)
		return nil, e
	}}
	w := newWorld(t, Options{}, Binding{Caller: far},
		"id=jq:.id", "first=jq:.[]", "none=jq:empty", "env=jq:[env, $ENV]", `sleep=jq:sleep(0.01) | .a`,
		`rpc=jq:rpc("add"; [1,2]) | .sum`, `nil=jq:rpc("params"; null)`, `err=jq:rpc("x"; {})`, `caught=jq:try rpc("x"; {}) catch [.code, .message, .data]`,
		`fail=jq:fail(-32050; "text") | 1`, `failText=jq:fail("E"; {a:1})`, `failBad=jq:fail([]; "x")`, `failData=jq:fail(-5; "t"; {b:1,a:.x})`, `note=jq:notify("tick"; [1]) | .n`, `noteBad=jq:notify("no"; null)`, `failCaught=jq:try fail(1; "m") catch .message`,
		`error=jq:error("e")`, `type=jq:.a.b`, `badSleep=jq:sleep("x")`, `halt=jq:1, halt`, `halted=jq:"x\n" | halt_error`,
	)
	hasty := newWorld(t, Options{Timeout: 300 * time.Millisecond}, Binding{Caller: far},
		"forever=jq:sleep(1e300)", "loop=jq:[repeat(1)]", `wait=jq:rpc("wait"; [])`)
	const failed = `error {"code":-32603,"message":"the hook failed"}`
	tests := []struct{ method, params, want, failure string }{
		{"id", `{"id":1.10}`, "1.10", ""},
		{"id", ``, "null", ""},
		{"first", `[1,2]`, failed, "hook first: the jq program has more than one output; write [PROGRAM] for an array"},
		{"first", `[2]`, "2", ""},
		{"none", `1`, "null", ""},
		{"env", ``, "[{},{}]", ""},
		{"sleep", `{"a":5}`, "5", ""},
		{"rpc", ``, "12345678901234567890", ""},
		{"nil", ``, "true", ""},
		{"err", ``, `error {"code":-5,"message":"no","data":1.0}`, ""},
		{"caught", ``, `[-5,"no",1.0]`, ""},
		{"fail", ``, `error {"code":-32050,"message":"text"}`, ""},
		{"failText", ``, `error {"code":"E","message":"{\"a\":1}"}`, ""},
		{"failBad", ``, failed, "hook failBad: jq: fail needs a number or a string for its code, not []"},
		{"failData", `{"x":{"z":1.10,"y":0}}`, `error {"code":-5,"message":"t","data":{"a":{"z":1.10,"y":0},"b":1}}`, ""},
		{"note", `{"n":7}`, "7", ""},
		{"noteBad", ``, failed, "hook noteBad: jq: gone"},
		{"failCaught", ``, `"m"`, ""},
		{"error", ``, failed, "hook error: jq: error: e"},
		{"type", `{"a":[]}`, failed, "hook type: jq: expected an object but got: array ([])"},
		{"badSleep", ``, failed, "hook badSleep: jq: sleep needs a number of seconds"},
		{"halt", ``, "1", ""},
		{"halted", ``, failed, "hook halted: jq: x"},
	}
	for _, tt := range tests {
		before := len(w.failures())
		testkit.Expect(t, tt.method, w.call(tt.method, tt.params), tt.want)
		testkit.Expect(t, tt.method, strings.TrimPrefix(w.failures()[before:], "\n"), tt.failure)
	}
	for _, m := range []string{"forever", "loop", "wait"} {
		before := len(hasty.failures())
		testkit.Expect(t, m, hasty.call(m, ""), failed)
		testkit.Expect(t, m, strings.TrimPrefix(hasty.failures()[before:], "\n"), "hook "+m+": timed out after 300ms")
	}
	alone := newWorld(t, Options{}, Binding{}, `rpc=jq:try rpc("x"; []) catch .`)
	testkit.Expect(t, "no caller", alone.call("rpc", ""), `"rpc: there is no peer to call"`)
}

func TestJQEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Options{}, Binding{}, `m=jq:sleep(1000)`)
	done := make(chan string)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	go func() { done <- w.ask(ctx, dialect.Request{Method: "m"}) }()
	testkit.Expect(t, "answer", <-done, "failed: context deadline exceeded")
	go func() { done <- w.call("m", "") }()
	time.AfterFunc(20*time.Millisecond, func() { w.Close() })
	got := <-done
	if got != "failed: context canceled" && got != "failed: the connection is closed" {
		t.Error(got)
	}
	testkit.Expect(t, "failures", w.failures(), "")
}

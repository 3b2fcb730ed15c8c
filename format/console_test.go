package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

func TestFault(t *testing.T) {
	rpc := &wire.Error{Code: json.RawMessage("-32004"), Message: "no such order", Data: json.RawMessage(`{"id":"o_9"}`), Raw: json.RawMessage("{\"code\":-32004,\n\"message\":\"no such order\",\"data\":{\"id\":\"o_9\"}}")}
	child := &wire.Child{Command: "plugin", Exit: 3, Stderr: []string{"starting", "no <config>"}}
	tests := []struct {
		name, text, json string
		fault            wire.Fault
	}{
		{
			"message", "rpcx: no such flag", `{"error":{"status":9,"kind":"usage","message":"no such flag"}}`,
			wire.Fault{Kind: wire.Usage, Message: "no such flag", Err: errors.New("hidden cause")},
		},
		{
			"only a cause", "rpcx: the cause", `{"error":{"status":9,"kind":"internal","message":"the cause"}}`,
			wire.Fault{Kind: wire.Internal, Err: errors.New("the cause")},
		},
		{"nothing", "rpcx: timeout", `{"error":{"status":9,"kind":"timeout","message":"timeout"}}`, wire.Fault{Kind: wire.Timeout}},
		{
			"a wrong method name",
			"rpcx: no method getOrdr: did you mean getOrder? try: rpcx call demo:orders getOrder 'id=o 1'",
			`{"error":{"status":9,"kind":"usage","message":"no method getOrdr","method":"getOrdr","hint":"did you mean getOrder?","fix":["rpcx","call","demo:orders","getOrder","id=o 1"]}}`,
			wire.Fault{Kind: wire.Usage, Message: "no method getOrdr", Method: "getOrdr", Hint: "did you mean getOrder?", Fix: []string{"rpcx", "call", "demo:orders", "getOrder", "id=o 1"}},
		},
		{
			"only a fix", "rpcx: a flag is missing; try: rpcx call --public", `{"error":{"status":9,"kind":"usage","message":"a flag is missing","fix":["rpcx","call","--public"]}}`,
			wire.Fault{Kind: wire.Usage, Message: "a flag is missing", Fix: []string{"rpcx", "call", "--public"}},
		},
		{
			"a peer's error", `rpcx: getOrder: no such order (code -32004): {"id":"o_9"}`,
			`{"error":{"status":9,"kind":"rpc_error","message":"no such order (code -32004)","method":"getOrder","retryable":true,"rpc":{"code":-32004,"message":"no such order","data":{"id":"o_9"}}}}`,
			wire.Fault{Kind: wire.RPCError, Method: "getOrder", Retryable: new(true), RPC: rpc},
		},
		{
			"a close code", "rpcx: slow: the answer was not in yet: connection closed with code 1011: going away",
			`{"error":{"status":9,"kind":"closed","message":"the answer was not in yet: connection closed with code 1011: going away","method":"slow","close":{"code":1011,"reason":"going away"}}}`,
			wire.Fault{Kind: wire.Closed, Message: "the answer was not in yet", Method: "slow", Close: &wire.CloseError{Code: 1011, Reason: "going away"}},
		},
		{
			"a close without a code", "rpcx: connection lost: reset", `{"error":{"status":9,"kind":"closed","message":"connection lost: reset"}}`,
			wire.Fault{Kind: wire.Closed, Close: &wire.CloseError{Err: errors.New("reset")}},
		},
		{
			"a child", "rpcx: plugin ended with status 3: no <config>",
			`{"error":{"status":9,"kind":"closed","message":"plugin ended with status 3: no <config>","child":{"command":"plugin","exit":3,"stderr":["starting","no <config>"]}}}`,
			wire.Fault{Kind: wire.Closed, Close: &wire.CloseError{Child: child}},
		},
		{
			"HTTP", "rpcx: ws://h/: 401 Unauthorized: token expired",
			`{"error":{"status":9,"kind":"auth","message":"ws://h/: 401 Unauthorized: token expired","http":{"status":401,"body":"token expired\nat noon"}}}`,
			wire.Fault{Kind: wire.Auth, Message: "ws://h/: 401 Unauthorized: token expired", HTTP: &wire.HTTP{Status: 401, Body: "token expired\nat noon"}},
		},
		{
			"only an HTTP status", "rpcx: HTTP 502: bad gateway", `{"error":{"status":9,"kind":"unreachable","message":"HTTP 502: bad gateway","http":{"status":502,"body":"bad gateway"}}}`,
			wire.Fault{Kind: wire.Unreachable, HTTP: &wire.HTTP{Status: 502, Body: "bad gateway"}},
		},
		{
			"control characters from a peer", `rpcx: m: \u001b[2J\u009bgone two (code 1)`, `{"error":{"status":9,"kind":"rpc_error","message":"\u001b[2J\u009bgone\ntwo (code 1)","method":"m","rpc":{"code":1,"message":"\u001b[2J\u009bgone\ntwo"}}}`,
			wire.Fault{Kind: wire.RPCError, Method: "m", RPC: &wire.Error{Code: json.RawMessage("1"), Message: "\x1b[2J\u009bgone\ntwo"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, asJSON := range []bool{false, true} {
				var out bytes.Buffer
				NewConsole(&out, ConsoleOptions{JSON: asJSON}).Error(&test.fault, 9)
				want := test.text
				if asJSON {
					want = test.json
				}
				if got := out.String(); got != want+"\n" {
					t.Errorf("\n got %s\nwant %s", got, want)
				}
				if asJSON && !json.Valid(out.Bytes()) {
					t.Error("not JSON")
				}
			}
		})
	}
}

func TestLines(t *testing.T) {
	show := func(c *Console) {
		c.Event(wire.Event{Kind: wire.Log, Level: "WARN", Message: "disk\x1b[31m full\nnow"})
		c.Event(wire.Event{Kind: wire.Log, Message: "plain"})
		c.Event(wire.Event{Kind: wire.Log, Level: "info\x1b[2J", Message: "x"})
		c.Event(wire.Event{Kind: wire.Guidance, Topic: "invalid_params", Action: "retry", Message: "id is wrong", Fix: []string{"rpcx", "call", "a b"}})
		c.Event(wire.Event{Kind: wire.Gap, Missed: 3})
		c.Event(wire.Event{Kind: wire.Gap, Missed: wire.MissedUnknown, Message: "away"})
		c.Warn("look out")
		c.Note("serving")
		c.Child(FromPeer, []byte("\x1b[31mred\x1b[0m"))
		c.Event(wire.Event{Kind: wire.Progress, Message: "half", Fraction: json.RawMessage("0.5")})
	}
	plain := `warn: disk\u001b[31m full now
log: plain
info\u001b[2j: x
guidance: invalid_params: id is wrong: retry; try: rpcx call 'a b'
rpcx: warning: 3 items were missed
rpcx: warning: items may have been missed: away
rpcx: warning: look out
rpcx: serving
`
	var pipe bytes.Buffer
	show(NewConsole(&pipe, ConsoleOptions{}))
	if got, want := pipe.String(), plain+"\x1b[31mred\x1b[0m\n"; got != want {
		t.Errorf("in a pipe\n got %q\nwant %q", got, want)
	}
	var terminal bytes.Buffer
	show(NewConsole(&terminal, ConsoleOptions{Screen: Screen{Terminal: true, Width: 30}}))
	want := plain + `\u001b[31mred\u001b[0m` + "\n" + "\r\x1b[K[##########..........]  50% …"
	if got := terminal.String(); got != want {
		t.Errorf("on a terminal\n got %q\nwant %q", got, want)
	}
	var color bytes.Buffer
	NewConsole(&color, ConsoleOptions{Screen: Screen{Color: true}}).Log(wire.Event{Level: "error", Message: "\x1b[2Jx"})
	if got, want := color.String(), "\x1b[31merror: \x1b[0m\\u001b[2Jx\n"; got != want {
		t.Errorf("in colour\n got %q\nwant %q", got, want)
	}
	var none bytes.Buffer
	NewConsole(&none, ConsoleOptions{}).Event(wire.Event{Kind: wire.Data})
	if none.Len() > 0 {
		t.Error("a data event is on stderr")
	}
}

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	c := NewConsole(&out, ConsoleOptions{Screen: Screen{Terminal: true}})
	step := func(fraction, message string) {
		c.Progress(wire.Event{Kind: wire.Progress, Fraction: json.RawMessage(fraction), Message: message})
	}
	step("0", "start\n")
	for range 1000 {
		step("0.1", "too soon to be drawn again")
	}
	step("1", "all")
	c.Clear()
	c.Clear()
	step("", "counting")
	c.Warn("x")
	step("7", "more than all")
	c.Waiting("for more")
	c.Clear()
	want := "\r\x1b[K[....................]   0% start" +
		"\r\x1b[K[####################] 100% all" + "\r\x1b[K" +
		"\r\x1b[Kcounting" + "\r\x1b[K" + "rpcx: warning: x\n" +
		"\r\x1b[K[####################] 100% more than all" + "\r\x1b[Kfor more" + "\r\x1b[K"
	if got := out.String(); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	var dumb bytes.Buffer
	NewConsole(&dumb, ConsoleOptions{Screen: Screen{Terminal: true, Dumb: true}}).Progress(wire.Event{Message: "x"})
	if dumb.Len() != 0 {
		t.Errorf("a dumb terminal got %q", dumb.String())
	}
}

func TestLineWriter(t *testing.T) {
	var out bytes.Buffer
	w := NewConsole(&out, ConsoleOptions{}).Writer(FromPeer)
	for _, piece := range []string{"a", "b\nc\r\n", "", "\nd"} {
		fmt.Fprint(w, piece)
	}
	w.Flush()
	w.Flush()
	if got, want := out.String(), "ab\nc\n\nd\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out.Reset()
	fmt.Fprint(w, strings.Repeat("x", maxLine+1))
	if out.Len() != maxLine+2 {
		t.Errorf("%d bytes for an endless line", out.Len())
	}
}

func TestTrace(t *testing.T) {
	var out bytes.Buffer
	c := NewConsole(&out, ConsoleOptions{})
	c.Trace("", wire.Send, []byte("{\"a\":\n \"x y\",\"Password\":\"hunter2\"}\n"), 13*time.Millisecond)
	c.Trace("", wire.Recv, []byte("no \x1b JSON"), 1500*time.Millisecond)
	c.Trace("", wire.Recv, []byte(`"`+strings.Repeat("é", 5000)+`"`), 0)
	lines := strings.Split(out.String(), "\n")
	if want := `> 0.013s {"a":"x y","Password":"…"}`; lines[0] != want {
		t.Errorf("got %q, want %q", lines[0], want)
	}
	if want := `< 1.500s no \u001b JSON`; lines[1] != want {
		t.Errorf("got %q, want %q", lines[1], want)
	}
	if want := `é… (10002 bytes)`; !strings.HasSuffix(lines[2], want) || len(lines[2]) > traced+40 {
		t.Errorf("%d bytes that end in %q", len(lines[2]), lines[2][len(lines[2])-20:])
	}
}

func TestConsoleIsConcurrent(t *testing.T) {
	var out bytes.Buffer
	c := NewConsole(&out, ConsoleOptions{Screen: Screen{Terminal: true}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				c.Progress(wire.Event{Message: "p"})
				c.Warn("w")
				c.Trace("", wire.Send, []byte("1"), 0)
				c.Clear()
			}
		})
	}
	wg.Wait()
	c.Clear()
	if n := strings.Count(out.String(), "rpcx: warning: w\n"); n != 400 {
		t.Errorf("%d whole lines, want 400", n)
	}
}

func TestDetect(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "out")
	testkit.OK(t, err)
	defer file.Close()
	if s := Detect(file, "auto", func(string) string { return "" }); s.Terminal || s.Color || s.Width != 0 {
		t.Errorf("a file is %+v", s)
	}
	for _, test := range []struct {
		terminal bool
		mode     string
		env      string
		want     bool
	}{
		{true, "auto", "TERM=xterm", true},
		{false, "auto", "TERM=xterm", false},
		{true, "auto", "TERM=dumb", false},
		{true, "auto", "", false},
		{true, "auto", "TERM=xterm NO_COLOR=1", false},
		{false, "auto", "CLICOLOR_FORCE=1", true},
		{false, "auto", "CLICOLOR_FORCE=0", false},
		{true, "auto", "TERM=dumb CLICOLOR_FORCE=1", true},
		{true, "auto", "TERM=xterm CLICOLOR_FORCE=1 NO_COLOR=1", false},
		{false, "always", "TERM=dumb NO_COLOR=1", true},
		{true, "never", "TERM=xterm CLICOLOR_FORCE=1", false},
	} {
		s := Screen{Terminal: test.terminal}
		s.color(test.mode, environment(test.env), false)
		if s.Color != test.want {
			t.Errorf("terminal %v, --color %s, %s: %v", test.terminal, test.mode, test.env, s.Color)
		}
	}
}

func environment(s string) func(string) string {
	return func(name string) string {
		for pair := range strings.FieldsSeq(s) {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestDetectTerminal(t *testing.T) {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("pseudo terminals are not available")
	}
	defer f.Close()
	if s := Detect(f, "auto", environment("TERM=xterm")); !s.Terminal || !s.Color || s.Dumb {
		t.Errorf("a terminal is %+v", s)
	}
}

// Without a terminal, progress is printed at most once per second, and not in the first second.
func TestProgressInAPipe(t *testing.T) {
	for _, tt := range []struct {
		json bool
		want string
	}{
		{false, "progress: 10% scan\\u001bning\nprogress: 20% scan\\u001bning\nprogress: waiting\n"},
		{true, `{"progress":{"message":"scan\u001bning","fraction":0.10}}` + "\n" + `{"progress":{"message":"scan\u001bning","fraction":0.20}}` + "\n" + `{"progress":{"message":"waiting"}}` + "\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			c := NewConsole(&out, ConsoleOptions{JSON: tt.json})
			say := func(message, fraction string) {
				c.Progress(wire.Event{Kind: wire.Progress, Message: message, Fraction: json.RawMessage(fraction)})
			}
			say("scan\x1bning", "0")
			time.Sleep(time.Second / 2)
			say("scan\x1bning", "0.05")
			if out.Len() > 0 {
				t.Errorf("within the first second: %s", &out)
			}
			time.Sleep(time.Second / 2)
			say("scan\x1bning", "0.10")
			say("scan\x1bning", "0.11")
			time.Sleep(time.Second)
			say("scan\x1bning", "0.20")
			time.Sleep(time.Minute)
			say("waiting", "")
			if got := out.String(); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

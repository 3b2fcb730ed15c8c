package format

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// With --errors json, each line of stderr is an object with one member, which is named for the kind of line.
func TestRowsAreJSON(t *testing.T) {
	var out bytes.Buffer
	c := NewConsole(&out, ConsoleOptions{JSON: true})
	c.Event(wire.Event{Kind: wire.Log, Level: "WARN", Message: "disk\x1b[31m full", Extra: json.RawMessage(`{"free":3}`)})
	c.Event(wire.Event{Kind: wire.Log, Level: "stdout", Message: "a line\nand another\n"})
	c.Event(wire.Event{Kind: wire.Guidance, Topic: "invalid_params", Action: "retry", Message: "id is wrong", Fix: []string{"rpcx", "call", "a b"}})
	c.Event(wire.Event{Kind: wire.Gap, Missed: 3})
	c.Warn(`look "out"`)
	c.Note("serving")
	c.Child(FromHook, []byte("\x1b[31mred"))
	c.Trace("", wire.Recv, []byte("no JSON"), 0)
	want := `{"log":{"level":"WARN","message":"disk\u001b[31m full","extra":{"free":3}}}
{"stderr":{"from":"peer","text":"a line"}}
{"stderr":{"from":"peer","text":"and another"}}
{"guidance":{"kind":"invalid_params","action":"retry","fix":["rpcx","call","a b"],"message":"id is wrong"}}
{"warning":"3 items were missed"}
{"warning":"look \"out\""}
{"note":"serving"}
{"stderr":{"from":"hook","text":"\u001b[31mred"}}
{"trace":{"dir":"recv","t":0,"text":"no JSON","bytes":7}}
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestFacts(t *testing.T) {
	for _, tt := range []struct {
		fact        wire.Fact
		words, json string
	}{
		{wire.Fact{Step: "closed", Text: "by us"}, "* 0.001s closed: by us\n", `{"trace":{"step":"closed","t":0.0012,"text":"by us"}}`},
		{
			wire.Fact{Who: "client 1", Step: "tls", Text: "1.3", Took: 1500 * time.Microsecond, Lines: []string{"one"}},
			"* 0.001s client 1 tls: 1.3 (1.5 ms)\n* 0.001s client 1   one\n",
			`{"trace":{"client":"client 1","step":"tls","t":0.0012,"text":"1.3","lines":["one"],"took":0.0015}}`,
		},
		{
			wire.Fact{Step: "dns", Text: "two", Took: time.Nanosecond, Lines: []string{"a", "b"}},
			"* 0.001s dns: two (0.0 ms)\n* 0.001s   a\n* 0.001s   b\n", `{"trace":{"step":"dns","t":0.0012,"text":"two","lines":["a","b"],"took":0}}`,
		},
	} {
		var words, rows bytes.Buffer
		NewConsole(&words, ConsoleOptions{}).Fact(tt.fact, 1200*time.Microsecond)
		NewConsole(&rows, ConsoleOptions{JSON: true}).Fact(tt.fact, 1200*time.Microsecond)
		if words.String() != tt.words || rows.String() != tt.json+"\n" {
			t.Errorf("%q\n%s", words.String(), rows.String())
		}
	}
}

func TestLogLines(t *testing.T) {
	var out bytes.Buffer
	c := NewConsole(&out, ConsoleOptions{Screen: Screen{Color: true}})
	for _, level := range []string{"error", "fatal", "critical", "panic", "emergency", "alert", "Warn", "warning", "debug", "trace", "info", "notice", ""} {
		c.Log(wire.Event{Level: level, Message: "m"})
	}
	c.Log(wire.Event{Level: "info", Message: "m", Extra: json.RawMessage(`{"a":"plain","b":"two words","c":"x=y","d":"\"","e":"","f":[1, 2],"g":null}`)})
	want := `RED error: OFF m
RED fatal: OFF m
RED critical: OFF m
RED panic: OFF m
RED emergency: OFF m
RED alert: OFF m
YELLOW warn: OFF m
YELLOW warning: OFF m
FAINT debug: OFF m
FAINT trace: OFF m
info: m
notice: m
log: m
info: m a=plain b="two words" c="x=y" d="\"" e="" f=[1, 2] g=null
`
	want = strings.NewReplacer("RED ", colorError, "YELLOW ", colorWarn, "FAINT ", colorFaint, " OFF ", " "+colorOff).Replace(want)
	if got := out.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestLogLevel(t *testing.T) {
	for level, want := range map[string]string{
		"": "info warn error fatal odd", "trace": "trace debug info warn error fatal odd", "warn": "warn error fatal odd", "fatal": "fatal odd",
	} {
		var out bytes.Buffer
		c := NewConsole(&out, ConsoleOptions{})
		c.LogLevel(level)
		for _, l := range []string{"trace", "debug", "info", "warn", "error", "fatal", "odd"} {
			c.Event(wire.Event{Kind: wire.Log, Level: l, Message: "."})
		}
		if got := strings.TrimSpace(strings.ReplaceAll(out.String(), ": .\n", " ")); got != want {
			t.Errorf("level %q prints %s, want %s", level, got, want)
		}
	}
	var out bytes.Buffer
	NewConsole(&out, ConsoleOptions{}).Log(wire.Event{Level: "trace", Message: "before a level is set"})
	if out.String() != "trace: before a level is set\n" {
		t.Errorf("got %q", &out)
	}
}

func TestHide(t *testing.T) {
	var out bytes.Buffer
	c := NewConsole(&out, ConsoleOptions{})
	c.Warn("open")
	redact.Sent(`hunter"2`, "t0k3n")
	c.Warn(`a hunter"2 and {"x":"hunter\"2"} and t0k3n`)
	c.Child(FromPeer, []byte("t0k3n"))
	if got, want := out.String(), "rpcx: warning: open\nrpcx: warning: a … and {\"x\":\"…\"} and …\nt0k3n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A bar is at most as wide as the terminal, is drawn at most twenty times a second, and is erased before other lines.
func TestBar(t *testing.T) {
	const gone = "\r\x1b[K"
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name  string
		width int
		rows  bool
		do    func(c *Console, step func(fraction, message string))
		want  string
	}{
		{"unknown width", 0, false, func(_ *Console, step func(_, _ string)) { step("", long) }, gone + long[:78] + "…"},
		{"narrow", 30, false, func(_ *Console, step func(_, _ string)) { step("", long) }, gone + long[:28] + "…"},
		{"a negative fraction is ignored", 30, false, func(_ *Console, step func(_, _ string)) { step("-0.5", "m") }, gone + "m"},
		{"a line from a child", 30, false, func(c *Console, step func(_, _ string)) { step("", "m"); c.Child(FromPeer, []byte("x")) }, gone + "m" + gone + "x\n"},
		{"an error", 30, false, func(c *Console, step func(_, _ string)) {
			step("", "m")
			c.Error(&wire.Fault{Message: "no"}, 1)
		}, gone + "m" + gone + "rpcx: no\n"},
		{"a trace", 30, false, func(c *Console, step func(_, _ string)) {
			step("", "m")
			c.Trace("", wire.Send, []byte("1"), 0)
		}, gone + "m" + gone + "> 0.000s 1\n"},
		{"updates of the bar", 30, false, func(_ *Console, step func(_, _ string)) {
			step("0", "m")
			time.Sleep(49 * time.Millisecond)
			step("0.5", "m")
			time.Sleep(time.Millisecond)
			step("0.5", "m")
		}, gone + "[....................]   0% m" + gone + "[##########..........]  50% m"},
		{"progress above a prompt", 30, true, func(_ *Console, step func(_, _ string)) {
			step("0", "m")
			time.Sleep(time.Second - time.Millisecond)
			step("0.25", "m")
			time.Sleep(time.Millisecond)
			step("0.5", "m")
		}, "[....................]   0% m\n[##########..........]  50% m\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				c := NewConsole(&out, ConsoleOptions{Screen: Screen{Terminal: true, Width: tt.width}})
				c.rows = tt.rows
				tt.do(c, func(fraction, message string) {
					c.Progress(wire.Event{Kind: wire.Progress, Fraction: json.RawMessage(fraction), Message: message})
				})
				if got := out.String(); got != tt.want {
					t.Errorf("\n got %q\nwant %q", got, tt.want)
				}
			})
		})
	}
}

// On a terminal, a stack trace is on new lines after the failure. Elsewhere, it is on the same line.
func TestTraceOfAFault(t *testing.T) {
	f := wire.Fault{Kind: wire.RPCError, Method: "m", Message: "it broke", Trace: []string{"at a", "  at b\x1b"}}
	for terminal, want := range map[bool]string{
		true: "rpcx: m: it broke\n    at a\n    at b\\u001b\n", false: "rpcx: m: it broke: at a;   at b\\u001b\n",
	} {
		var out bytes.Buffer
		NewConsole(&out, ConsoleOptions{Screen: Screen{Terminal: terminal}}).Error(&f, 1)
		if got := out.String(); got != want {
			t.Errorf("terminal %v: got %q, want %q", terminal, got, want)
		}
	}
}

package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

type in struct {
	raw string
	ev  wire.Event
}

func data(payload string) in {
	return in{`{"m":` + payload + `}`, wire.Event{Kind: wire.Data, Data: json.RawMessage(payload)}}
}

func event(payload string) *wire.Event {
	ev := data(payload).ev
	return &ev
}

func of(contentType, payload string) in {
	i := data(payload)
	i.ev.ContentType = contentType
	return i
}

var (
	progress = in{`{"p":1}`, wire.Event{Kind: wire.Progress, Message: "half", Fraction: json.RawMessage("0.50")}}
	done     = in{`{"d":1}`, wire.Event{Kind: wire.Done, Final: true}}
	gap      = in{"", wire.Event{Kind: wire.Gap, Missed: 3}}
	lost     = in{"", wire.Event{Kind: wire.Gap, Missed: wire.MissedUnknown, Message: "away"}}
	refused  = &wire.Error{Code: json.RawMessage("-32001"), Message: "refused", Kind: "denied", Raw: json.RawMessage(`{"code":-32001, "message":"refused"}`)}
	failure  = in{`{"error":1}`, wire.Event{Kind: wire.Failure, Final: true, Err: refused}}
)

// feed prints events until one ends the pipeline.
func feed(t *testing.T, p *Pipeline, events []in) (printed int, err error) {
	t.Helper()
	for _, e := range events {
		m := wire.Message{}
		if e.raw != "" {
			m.Raw = []byte(e.raw)
		} else if e.ev.Kind == wire.Gap {
			m.Event = &e.ev
		}
		stop, err := p.Print(t.Context(), &m, &e.ev)
		printed++
		if err != nil {
			return printed, err
		}
		if e.ev.Kind == wire.Failure {
			if _, err := p.Error(t.Context(), e.ev.Err); err != nil {
				return printed, err
			}
		}
		if stop {
			break
		}
	}
	return printed, p.Finish()
}

func templates(t *testing.T) (file, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"shell.output.tmpl": "$ {{.cmd}}\n", "text_plain.tmpl": "{{.}}", "default.tmpl": "[{{json .}}]",
		"readme.md": "{{ broken",
	} {
		testkit.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return filepath.Join(dir, "shell.output.tmpl"), dir
}

func TestPipeline(t *testing.T) {
	file, dir := templates(t)
	three := []in{data("1"), progress, data(`"two"`), data("3"), done}
	tests := []struct {
		name   string
		o      Options
		events []in
		want   string
		read   int            // number of events that are read; 0 means all
		kind   wire.FaultKind // "" means success
		says   string         // part of the failure's text
	}{
		{name: "payloads", events: three, want: "1\n\"two\"\n3\n"},
		{name: "payload bytes are kept", events: []in{data(`{"b": 12345678901234567890,"a" :1.10, "s":"\u00e9é<"}`)}, want: "{\"b\": 12345678901234567890,\"a\" :1.10, \"s\":\"\\u00e9é<\"}\n"},
		{name: "line breaks are removed", events: []in{data("{ \"a\": [\r\n1,\n \"x y\\n\" ] }")}, want: "{\"a\":[1,\"x y\\n\"]}\n"},
		{name: "no payload", events: []in{{ev: wire.Event{Kind: wire.Data}}}, want: "null\n"},
		{name: "nul", o: Options{Null: true}, events: []in{data("1"), data("2")}, want: "1\x002\x00"},

		{name: "events", o: Options{Events: true}, events: []in{data("1"), progress, gap, failure, done}, want: `{"event":"data","data":1}
{"event":"progress","message":"half","fraction":0.50}
{"event":"gap","missed":3}
{"event":"error","code":-32001,"kind":"denied","message":"refused"}
{"event":"done"}
`},
		{name: "opened is never printed", o: Options{Events: true}, events: []in{{ev: wire.Event{Kind: wire.Opened}}}, want: ""},
		{name: "events with jq", o: Options{Events: true, JQ: ".event, .data"}, events: []in{data("[1]")}, want: "\"data\"\n[1]\n"},
		{name: "events without line breaks", o: Options{Events: true}, events: []in{data("[\n1]")}, want: "{\"event\":\"data\",\"data\":[1]}\n"},
		{name: "raw", o: Options{Raw: true}, events: []in{data("1"), progress, gap, failure}, want: "{\"m\":1}\n{\"p\":1}\n{\"error\":1}\n"},
		{name: "raw with nul", o: Options{Raw: true, Null: true}, events: []in{data("[\n1]")}, want: "{\"m\":[\n1]}\x00"},
		{name: "raw is never pretty", o: Options{Raw: true, Pretty: true, Color: true}, events: []in{data("1")}, want: "{\"m\":1}\n"},
		{name: "raw with jq", o: Options{Raw: true, JQ: ".m"}, events: []in{data("1")}, want: "1\n"},
		{name: "raw and events", o: Options{Raw: true, Events: true}, kind: wire.Usage, says: "--messages"},

		{name: "jq", o: Options{JQ: ".a"}, events: []in{data(`{"a":12345678901234567890}`), data(`{"a":1.10}`), data(`{}`)}, want: "12345678901234567890\n1.10\nnull\n"},
		{name: "jq with several outputs", o: Options{JQ: ".[]"}, events: []in{data("[1,[2]]"), data("[]"), data("[3]")}, want: "1\n[2]\n3\n"},
		{name: "raw strings", o: Options{Strings: AsText}, events: []in{data(`"a\tb\u001b"`), data(`{"a":"b"}`), data(`""`)}, want: "a\tb\x1b\n{\"a\":\"b\"}\n\n"},
		{name: "raw strings from jq", o: Options{JQ: ".[]", Strings: AsText, Null: true}, events: []in{data(`["a\nb",1]`)}, want: "a\nb\x001\x00"},
		{name: "arguments", o: Options{JQ: ".+$n", Vars: map[string]json.RawMessage{"n": json.RawMessage("2")}}, events: []in{data("1")}, want: "3\n"},
		{name: "bad jq", o: Options{JQ: ".["}, kind: wire.Usage, says: "--jq: "},
		{name: "bad until", o: Options{Until: "nope"}, kind: wire.Usage, says: "--until: "},
		{name: "bad expect", o: Options{ExpectAny: []string{"1 +"}}, kind: wire.Usage, says: "--expect-any: "},
		{name: "bad select", o: Options{Select: "}"}, kind: wire.Usage, says: "--select: "},
		{name: "jq that fails for a value", o: Options{JQ: ".a"}, events: []in{data(`{"a":1}`), data("[1]")}, want: "1\n", kind: wire.Helper, says: "--jq: "},
		{name: "until that fails for a value", o: Options{Until: ".a"}, events: []in{data("[1]")}, kind: wire.Helper, says: "--until: "},

		{name: "count", o: Options{Count: 2}, events: three, want: "1\n\"two\"\n", read: 3},
		{name: "count with events", o: Options{Count: 1, Events: true}, events: []in{progress, data("1"), data("2")}, want: "{\"event\":\"progress\",\"message\":\"half\",\"fraction\":0.50}\n{\"event\":\"data\",\"data\":1}\n", read: 2},
		{name: "count counts printed values", o: Options{Count: 2, JQ: ".[]"}, events: []in{data("[]"), data("[1,2]"), data("[3]"), data("[4]")}, want: "1\n2\n3\n", read: 3},
		{name: "a smaller count is not an error", o: Options{Count: 9}, events: []in{data("1")}, want: "1\n"},
		{name: "until", o: Options{Until: `. == "two"`}, events: three, want: "1\n\"two\"\n", read: 3},
		{name: "until without an output", o: Options{Until: "empty"}, events: three, want: "1\n\"two\"\n3\n"},
		{name: "until before jq", o: Options{Until: ".a == 2", JQ: ".b"}, events: []in{data(`{"a":1,"b":"x"}`), data(`{"a":2,"b":"y"}`), data(`{"a":3}`)}, want: "\"x\"\n\"y\"\n", read: 2},
		{name: "until with events", o: Options{Until: `.event == "progress"`, Events: true, JQ: ".event"}, events: three, want: "\"data\"\n\"progress\"\n", read: 2},
		{name: "select gets the message", o: Options{Select: ".m > 1"}, events: []in{data("1"), data("2"), data("3"), gap}, want: "2\n3\n"},
		{name: "select keeps gaps", o: Options{Select: ".m > 1", Events: true}, events: []in{data("1"), lost}, want: `{"event":"gap","message":"away","missed":null}` + "\n"},
		{name: "select then count", o: Options{Select: ".m > 1", Count: 1}, events: []in{data("1"), data("2"), data("3")}, want: "2\n", read: 2},

		{name: "expect met", o: Options{Expect: []string{". > 0", ". < 3"}}, events: []in{data("1"), data("2")}, want: "1\n2\n"},
		{name: "expect unmet", o: Options{Expect: []string{". > 0", ". < 2"}}, events: []in{data("1"), data("2"), data("3")}, want: "1\n", read: 2, kind: wire.Expectation, says: "--expect '. < 2' is not met: the value is 2"},
		{name: "expect before jq", o: Options{Expect: []string{".ok"}, JQ: ".n"}, events: []in{data(`{"ok":true,"n":1}`)}, want: "1\n"},
		{name: "expect without an output is not met", o: Options{Expect: []string{"empty"}}, events: []in{data("1")}, kind: wire.Expectation, says: "--expect empty"},
		{name: "expect any met", o: Options{ExpectAny: []string{". == 1", ". == 3"}}, events: three, want: "1\n\"two\"\n3\n"},
		{name: "expect any unmet", o: Options{ExpectAny: []string{". == 1", ". == 9"}}, events: three, want: "1\n\"two\"\n3\n", kind: wire.Expectation, says: "--expect-any '. == 9' is not met: the last of 3 values is 3"},
		{name: "expect none", o: Options{ExpectNone: []string{". == 9"}}, events: three, want: "1\n\"two\"\n3\n"},
		{name: "expect none unmet", o: Options{ExpectNone: []string{". == 3"}}, events: three, want: "1\n\"two\"\n", read: 4, kind: wire.Expectation, says: "--expect-none '. == 3' is not met: the value is 3"},
		{name: "expect count", o: Options{ExpectCount: new(int64(3))}, events: three, want: "1\n\"two\"\n3\n"},
		{name: "expect count unmet", o: Options{ExpectCount: new(int64(2))}, events: three, want: "1\n\"two\"\n3\n", kind: wire.Expectation, says: "--expect-count 2 is not met: the count is 3"},
		{name: "expect error by code", o: Options{ExpectError: "-32001"}, events: []in{failure}, want: "{\"code\":-32001, \"message\":\"refused\"}\n"},
		{name: "expect error by kind", o: Options{ExpectError: "denied", JQ: ".message", Strings: AsText}, events: []in{failure}, want: "refused\n"},
		{name: "expect error with events", o: Options{ExpectError: "-32001", Events: true, JQ: ".code"}, events: []in{failure}, want: "-32001\n"},
		{name: "expect error, no error", o: Options{ExpectError: "-32601"}, events: []in{data("1")}, want: "1\n", kind: wire.Expectation, says: "--expect-error -32601 is not met: the value is 1"},

		{name: "pretty", o: Options{Pretty: true}, events: []in{data(`{"a":[],"b":[1]}`), data("2")}, want: "{\n  \"a\": [],\n  \"b\": [\n    1\n  ]\n}\n2\n"},
		{name: "pretty jq", o: Options{Pretty: true, JQ: ".a"}, events: []in{data(`{"a":[1]}`)}, want: "[\n  1\n]\n"},
		{name: "a pipe gets control characters", events: []in{data("\"\u009b\u202e\x7f\"")}, want: "\"\u009b\u202e\x7f\"\n"},
		{name: "a terminal gets no control characters", o: Options{Terminal: true}, events: []in{data("\"\u009b\u202e\x7fé\"")}, want: "\"\\u009b\\u202e\\u007fé\"\n"},
		{name: "a terminal with raw", o: Options{Terminal: true, Raw: true}, events: []in{{"\x1b[31m", wire.Event{}}}, want: "\\u001b[31m\n"},
		{name: "a terminal with raw strings", o: Options{Terminal: true, Strings: AsText}, events: []in{data(`"\u001b[2Ja\n\tb\r\n\u202e"`)}, want: "\\u001b[2Ja\n\tb\n\\u202e\n"},

		{name: "template file", o: Options{Template: file}, events: []in{data(`{"cmd":"ls"}`), of("other", `{"cmd":12345678901234567890}`)}, want: "$ ls\n$ 12345678901234567890\n"},
		{name: "template directory", o: Options{Template: dir}, events: []in{of("shell.output", `{"cmd":"ls"}`), of("text/plain", `"x"`), of("../etc/passwd", "1"), data("2")}, want: "$ ls\nx\n[1]\n[2]\n"},
		{name: "template after jq", o: Options{Template: dir, JQ: ".[]"}, events: []in{of("text/plain", `["a","b"]`)}, want: "a\nb\n"},
		{name: "template on a terminal", o: Options{Template: file, Terminal: true}, events: []in{data(`{"cmd":"\u001b[31m"}`)}, want: "$ \\u001b[31m\n"},
		{name: "a template that fails for a value", o: Options{Template: file}, events: []in{data(`{"cmd":1}`), data("1")}, want: "$ 1\n", kind: wire.Helper, says: "--template: shell.output.tmpl:1:"},
		{name: "a template that does not exist", o: Options{Template: filepath.Join(dir, "nope")}, kind: wire.Usage, says: "--template: "},
		{name: "bad template", o: Options{Template: filepath.Join(dir, "readme.md")}, kind: wire.Usage, says: "--template: readme.md:1: "},
		{name: "template and raw strings", o: Options{Template: file, Strings: AsText}, kind: wire.Usage, says: "-r"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			p, err := New(&out, test.o)
			read := 0
			if err == nil {
				read, err = feed(t, p, test.events)
				p.Idle()
			}
			if got := out.String(); got != test.want {
				t.Errorf("printed %q\n   want %q", got, test.want)
			}
			if test.read != 0 && read != test.read {
				t.Errorf("read %d events, want %d", read, test.read)
			}
			checkFault(t, err, test.kind, test.says)
		})
	}
}

func checkFault(t *testing.T, err error, kind wire.FaultKind, says string) {
	t.Helper()
	f := wire.AsFault(err)
	switch {
	case kind == "" && err != nil:
		t.Errorf("failed: %v", err)
	case kind != "" && f == nil:
		t.Errorf("no fault of kind %s: %v", kind, err)
	case kind != "" && (f.Kind != kind || !strings.Contains(f.Message, says)):
		t.Errorf("fault %s %q, want %s %q", f.Kind, f.Message, kind, says)
	}
}

func TestStoppedStaysStopped(t *testing.T) {
	var out bytes.Buffer
	p, _ := New(&out, Options{Count: 1})
	for range 3 {
		if stop, err := p.Print(t.Context(), &wire.Message{}, event("1")); !stop || err != nil {
			t.Errorf("stop %v, err %v", stop, err)
		}
	}
	if err := p.Finish(); err != nil || out.String() != "1\n" {
		t.Errorf("%v, printed %q", err, out.String())
	}
	if p.items != 1 {
		t.Errorf("%d items", p.items)
	}
}

func TestErrorWithoutExpectationIsTheCommands(t *testing.T) {
	p, _ := New(&bytes.Buffer{}, Options{})
	if met, err := p.Error(t.Context(), refused); met || err != nil {
		t.Errorf("met %v, err %v", met, err)
	}
}

// broken fails each write, and counts the writes after the first.
type broken struct {
	err   error
	tried int
}

func (b *broken) Write([]byte) (int, error) {
	b.tried++
	return 0, b.err
}

func TestWriteFailures(t *testing.T) {
	pipe := &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	full := &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	for _, test := range []struct {
		err  error
		kind wire.FaultKind
		says string
	}{{pipe, wire.PipeClosed, "stdout"}, {full, wire.IO, "stdout: no space left on device"}, {errors.New("odd"), wire.IO, "odd"}} {
		w := &broken{err: test.err}
		p, _ := New(w, Options{Expect: []string{"."}})
		if stop, err := p.Print(t.Context(), &wire.Message{}, event("1")); stop || err != nil {
			t.Fatalf("stop %v, err %v before anything was written", stop, err)
		}
		p.Idle()
		stop, err := p.Print(t.Context(), &wire.Message{}, event("2"))
		if !stop {
			t.Error("a failed write does not stop the pipeline")
		}
		checkFault(t, err, test.kind, test.says)
		_, err = p.Error(t.Context(), refused)
		if err != nil {
			t.Errorf("Error without --expect-error returned %v", err)
		}
		checkFault(t, p.Flush(), test.kind, test.says)
		checkFault(t, p.Finish(), test.kind, test.says)
		if w.tried != 1 {
			t.Errorf("%d writes, want 1", w.tried)
		}
	}
}

// The Pipeline writes its buffer when it is full and on Flush.
func TestFlush(t *testing.T) {
	var out bytes.Buffer
	heralds := 0
	p, _ := New(&out, Options{BeforeWrite: func() { heralds++ }})
	print := func(payload string) {
		if _, err := p.Print(t.Context(), &wire.Message{}, event(payload)); err != nil {
			t.Fatal(err)
		}
	}
	print("1")
	if out.Len() != 0 {
		t.Error("output before Flush")
	}
	p.Idle()
	p.Idle()
	if out.String() != "1\n" || heralds != 1 {
		t.Errorf("%q after %d calls of BeforeWrite", out.String(), heralds)
	}
	print(`"` + strings.Repeat("x", 2*bufferSize) + `"`)
	if out.Len() < bufferSize {
		t.Error("a full buffer is not written")
	}
}

// Idle can run on the reader's goroutine during Print.
func TestPipelineIsConcurrent(t *testing.T) {
	var out bytes.Buffer
	p, _ := New(&out, Options{JQ: "."})
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 200 {
			p.Idle()
		}
	})
	for range 200 {
		_, _ = p.Print(t.Context(), &wire.Message{}, event("1"))
	}
	wg.Wait()
	if err := p.Finish(); err != nil || out.String() != strings.Repeat("1\n", 200) {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}

func TestPassThroughAllocatesNothing(t *testing.T) {
	p, _ := New(discard{}, Options{})
	e := data(`{"subscription":"0x1","result":{"number":"0x10","hash":"0xabc"}}`)
	m := wire.Message{Raw: []byte(e.raw)}
	raw, _ := New(discard{}, Options{Raw: true, Null: true})
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		_, _ = p.Print(ctx, &m, &e.ev)
		_, _ = raw.Print(ctx, &m, &e.ev)
		p.Idle()
	}); n != 0 {
		t.Errorf("%v allocations per value", n)
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func BenchmarkPassThrough(b *testing.B) {
	payload := `{"s":"` + strings.Repeat("x", 230) + `"}`
	e := data(payload)
	m := wire.Message{Raw: []byte(e.raw)}
	p, _ := New(discard{}, Options{})
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		_, _ = p.Print(b.Context(), &m, &e.ev)
	}
}

func BenchmarkFilter(b *testing.B) {
	payload := `{"subscription":"s1","result":{"number":12345,"price":1.50,"text":"` + strings.Repeat("x", 100) + `"}}`
	e := data(payload)
	m := wire.Message{Raw: []byte(e.raw)}
	for _, src := range []string{"", ".result", "select(.result.number > 100) | {n: .result.number, price: .result.price}", ".result.number + 1"} {
		b.Run(src, func(b *testing.B) {
			p, err := New(discard{}, Options{JQ: src})
			testkit.OK(b, err)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = p.Print(b.Context(), &m, &e.ev)
			}
		})
	}
}

func BenchmarkPretty(b *testing.B) {
	payload := `{"number":12,"hash":"0xabc","list":[1,2,3,{"a":null,"b":true}],"text":"` + strings.Repeat("x", 150) + `"}`
	e := data(payload)
	p, _ := New(discard{}, Options{Pretty: true, Color: true, Terminal: true})
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		_, _ = p.Print(b.Context(), &wire.Message{}, &e.ev)
	}
}

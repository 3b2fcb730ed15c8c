package format

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/testkit"
)

// TestWidths checks the characters at both ends of the ranges of wide characters.
func TestWidths(t *testing.T) {
	for first, last := range map[rune]rune{0x1100: 0x115f, 0xac00: 0xd7a3, 0xff01: 0xff60, 0xffe0: 0xffe6, 0x1f300: 0x1f320} {
		if got := Width(string([]rune{first - 1, first, last, last + 1})); got != 6 {
			t.Errorf("%x to %x: %d columns, want 6", first, last, got)
		}
	}
	for text, want := range map[string]int{
		"": 0, "é": 1, "e\u0301": 1, "\ufdff": 1, "\ufe00\ufe0f": 0, "\ufe30\ufe6b\ufe70": 5, "a\u200db": 2, "広い": 4, "😀": 2, "\U0001f321": 1,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"abcd", 4, "abcd"},
		{"abcde", 4, "abc…"},
		{"abcde", 0, "abcde"},
		{"abcde", -1, "abcde"},
		{"ab", 1, "…"},
		{"広い広", 6, "広い広"},
		{"広い広", 5, "広い…"},
		{"広い広", 4, "広…"},
		{"éééé", 4, "éééé"},
	} {
		if got := Cut(tt.text, tt.width); got != tt.want || tt.width > 0 && Width(got) > tt.width {
			t.Errorf("%q in %d columns: got %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		line  string
		width int
		want  string
	}{
		{"rpcx call a b", 13, "rpcx call a b"},
		{"rpcx call a b", 12, `rpcx call \|    a b`},
		{"rpcx call a b", 11, `rpcx call \|    a b`},
		{"rpcx call a b", 10, `rpcx \|    call \|    a b`},
		{"rpcx 'a b c d e f g h' x", 12, `rpcx \|    'a b c d e f g h' \|    x`},
		{`rpcx "a b c d e f' g h" x`, 12, `rpcx \|    "a b c d e f' g h" \|    x`},
		{`rpcx a\ b\ c\ d\ e\ f x`, 12, `rpcx \|    a\ b\ c\ d\ e\ f \|    x`},
		{`rpcx 'a\' b c d e f g`, 12, `rpcx 'a\' \|    b c d \|    e f g`},
		{"abcdefghijklmnop", 5, "abcdefghijklmnop"},
		{" abcdefghijklmnop", 5, " abcdefghijklmnop"},
	} {
		if got := strings.Join(Fold(tt.line, tt.width), "|"); got != tt.want {
			t.Errorf("%q in %d columns is\n     %s\nwant %s", tt.line, tt.width, got, tt.want)
		}
	}
}

const garden = `{"catalog":1,"info":{"name":"garden","extra":{"motto":"grow","beds":[1, 2]}},"host":{"os":"linux"},"limits":{"rate":3},"methods":[
{"name":"plant","params":{"type":"object","properties":{
  "kind":{"enum":["rose","fern"],"description":"what it is"},
  "depth":{"type":"integer","minimum":1.0,"exclusiveMaximum":9},
  "height":{"type":"number","exclusiveMinimum":0,"maximum":2.5},
  "colours":{"examples":[1,2,3,4,5,6,7,8]},
  "words":{"examples":["1","2","3","4","5","6","7","8","9"]},
  "with":{"type":"object","properties":{"pot":{"type":"object","properties":{"rim":{"type":"object","properties":{"gold":{"type":"boolean"}}}}}}}},
  "required":["kind"]}},
{"name":"rest","params":{"type":"object"}},
{"name":"aMethodWithManyParameters","params":{"type":"object","properties":{"first":{},"second":{},"third":{},"fourth":{},"fifth":{}},"required":["first"]}}]}`

// TestListingOfAll checks that the help of a method shows each fact in a schema, and the peer's description above the table.
func TestListingOfAll(t *testing.T) {
	c, err := catalog.Parse([]byte(garden))
	testkit.OK(t, err)
	l := Listing{Catalog: c}
	for name, want := range map[string]string{
		"": `garden
motto: grow
beds: [1, 2]
host: {"os":"linux"}
limits: {"rate":3}

NAME                       KIND  PARAMS                                    DESCRIPTION
plant                      call  kind [depth] [height] [colours] [words]…
rest                       call
aMethodWithManyParameters  call  first [second] [third] [fourth] [fifth]
`,
		"plant": `plant (call)

Parameters:
  kind          string   required  what it is; one of rose, fern
  depth         integer            at least 1; less than 9
  height        number             more than 0; at most 2.5
  colours       any                such as 1, 2, 3, 4, 5, 6, 7, 8
  words         any                such as 1, 2, 3, 4, 5, 6, 7, 8, …
  with          object
  with.pot      object
  with.pot.rim  object

Example:
  rpcx call ws://h/ plant kind=rose
`,
		"rest": `rest (call)

Parameters: none

Example:
  rpcx call ws://h/ rest
`,
	} {
		got := l.Methods()
		if name != "" {
			got = l.Method(c.Method(name), "ws://h/")
		}
		if got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestPipelineThatFails checks that a failed write fails the command, for each form of output.
func TestPipelineThatFails(t *testing.T) {
	_, folder := templates(t)
	huge := json.RawMessage(`"` + strings.Repeat("A", 2*bufferSize) + `"`)
	for name, o := range map[string]Options{
		"plain": {}, "nul": {Null: true}, "jq": {JQ: "."}, "jq with several outputs": {JQ: ".,."}, "text": {Strings: AsText},
		"pretty": {Pretty: true}, "decoded": {Strings: FromBase64}, "template": {Template: folder},
	} {
		p, err := New(full{}, o)
		testkit.OK(t, err)
		for range 2 {
			stop, err := p.Print(t.Context(), &wire.Message{Raw: huge}, event(string(huge)))
			if f := wire.AsFault(err); !stop || f == nil || f.Kind != wire.IO || f.Message != "stdout: disk full" {
				t.Errorf("%s: %v, %v", name, stop, err)
			}
		}
		if f := wire.AsFault(p.Finish()); f == nil || f.Message != "stdout: disk full" {
			t.Errorf("%s at the end: %v", name, f)
		}
	}
	p, _ := New(full{}, Options{ExpectError: "any"})
	_, _ = p.Print(t.Context(), &wire.Message{}, event(string(huge)))
	if met, err := p.Error(t.Context(), refused); met || wire.AsFault(err) == nil || wire.AsFault(err).Message != "stdout: disk full" {
		t.Errorf("Error: %v, %v", met, err)
	}
}

// TestDecode checks both base64 alphabets, with blanks, and with and without padding.
func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		`"aGVsbG8="`: "hello", `"aGVs\nbG8"`: "hello", `"-_-_"`: "\xfb\xff\xbf", `"+/+/"`: "\xfb\xff\xbf", `""`: "",
		`1`:     `--decode base64: a value is not a string: 1`,
		`"a-+"`: "--decode base64: a value is not base64: illegal base64 data at input byte 2",
	} {
		var out strings.Builder
		p, err := New(&out, Options{Strings: FromBase64})
		testkit.OK(t, err)
		_, err = p.Print(t.Context(), &wire.Message{}, event(text))
		if err == nil {
			err = p.Finish()
		}
		got := out.String()
		if f := wire.AsFault(err); f != nil && f.Kind == wire.Expectation {
			got = f.Message
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestSelects checks that --select gets whole messages and keeps gaps.
func TestSelects(t *testing.T) {
	p, err := New(io.Discard, Options{Select: ".a"})
	testkit.OK(t, err)
	for _, tt := range []struct {
		m    wire.Message
		want bool
	}{{wire.Message{Raw: []byte(`{"a":1}`)}, true}, {wire.Message{Raw: []byte(`{}`)}, false}, {wire.Message{}, false}, {wire.Message{Event: &gap.ev}, true}} {
		if got, err := p.Selects(t.Context(), &tt.m); got != tt.want || err != nil {
			t.Errorf("%s: %v, %v", tt.m.Raw, got, err)
		}
	}
	if _, err := p.Selects(t.Context(), &wire.Message{Raw: []byte(`[]`)}); err == nil || !strings.HasPrefix(err.Error(), "--select: ") {
		t.Errorf("a message that is an array: %v", err)
	}
}

// TestLight checks which pipelines print a value without running a program of the user.
func TestLight(t *testing.T) {
	_, folder := templates(t)
	for _, tt := range []struct {
		o    Options
		want bool
	}{
		{Options{}, true},
		{Options{Pretty: true, Count: 3, ExpectError: "any"}, true},
		{Options{Select: "."}, false},
		{Options{Until: "."}, false},
		{Options{JQ: "."}, false},
		{Options{Template: folder}, false},
		{Options{Expect: []string{"."}}, false},
	} {
		p, err := New(io.Discard, tt.o)
		if err != nil || p.Light() != tt.want {
			t.Errorf("%+v: %v, %v", tt.o, !tt.want, err)
		}
	}
}

// TestExpectations compares the whole error about an unmet expectation.
func TestExpectations(t *testing.T) {
	none := int64(0)
	long := strings.Repeat("x", shown)
	for _, tt := range []struct {
		name, want string
		o          Options
		values     []string
		err        *wire.Error
	}{
		{"expect, not met", "--expect '. > 1' is not met: the value is 1", Options{Expect: []string{". > 1"}}, []string{"2", "1"}, nil},
		{"expect without a value", "--expect . is not met: there was no value", Options{Expect: []string{"."}}, nil, nil},
		{"expect with --expect-count 0", "", Options{Expect: []string{"."}, ExpectCount: &none}, nil, nil},
		{"expect any of one value", "--expect-any '. > 1' is not met: the value is 1", Options{ExpectAny: []string{". > 1"}}, []string{"1"}, nil},
		{"expect any of two values", "--expect-any '. > 2' is not met: the last of 2 values is 2", Options{ExpectAny: []string{". > 2"}}, []string{"1", "2"}, nil},
		{"expect any without a value", "--expect-any . is not met: there was no value", Options{ExpectAny: []string{"."}}, nil, nil},
		{"expect any, met once", "", Options{ExpectAny: []string{". > 1"}}, []string{"2", "1", "[]"}, nil},
		{"another error", "--expect-error 5 is not met: the error is {\"code\":-32001, \"message\":\"refused\"}", Options{ExpectError: "5"}, nil, refused},
		{"an expected error, as a value", "", Options{ExpectError: "any", Expect: []string{".code == -32001"}, ExpectAny: []string{".code"}, ExpectCount: &none}, nil, refused},
		{"an expected error with another value", "--expect '.code == 1' is not met: the value is {\"code\":-32001, \"message\":\"refused\"}", Options{ExpectError: "any", Expect: []string{".code == 1"}}, nil, refused},
		{"a program that fails", "--expect: expected an object but got: number (1)", Options{Expect: []string{".a"}}, []string{"1"}, nil},
		{"the longest value that is not cut", "--expect false is not met: the value is \"" + long[2:] + "\"", Options{Expect: []string{"false"}}, []string{`"` + long[2:] + `"`}, nil},
		{"a value that is cut", "--expect false is not met: the value is \"" + long[1:] + "…", Options{Expect: []string{"false"}}, []string{`"` + long[1:] + `"`}, nil},
	} {
		p, err := New(io.Discard, tt.o)
		testkit.OK(t, err)
		run := func(ctx context.Context) error {
			for _, val := range tt.values {
				if _, err := p.Print(ctx, &wire.Message{}, event(val)); err != nil {
					return err
				}
			}
			if tt.err != nil {
				if met, err := p.Error(ctx, tt.err); err != nil || !met {
					return err
				}
			}
			return p.Finish()
		}
		got := ""
		if f := wire.AsFault(run(t.Context())); f != nil {
			got = f.Message
			if (f.RPC == nil) != (tt.name != "another error") {
				t.Errorf("%s: the fault has the peer's error %v", tt.name, f.RPC)
			}
		}
		if got != tt.want {
			t.Errorf("%s: got  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

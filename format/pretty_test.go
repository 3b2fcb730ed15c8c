package format

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

func TestPretty(t *testing.T) {
	tests := []struct {
		name, in, want string
		look           style
	}{
		{"nested", `{"b":{"x":[1,{"y":[]}],"e":{ }},"a":null}`, `{
  "b": {
    "x": [
      1,
      {
        "y": []
      }
    ],
    "e": {}
  },
  "a": null
}`, style{indent: true}},
		{"scalars", " 1.10e+05 ", "1.10e+05", style{indent: true}},
		{"escapes in strings are kept", `["\u0041\/","{,:}\"]"]`, "[\n  \"\\u0041\\/\",\n  \"{,:}\\\"]\"\n]", style{indent: true}},
		{"spaces in the input are removed", "[ 1 ,\n[ \t] ]", "[\n  1,\n  []\n]", style{indent: true}},
		{"colour on one line", `{"a":[null,true,1,"s"]}`, "\x1b[1;39m{\x1b[0m\x1b[34;1m\"a\"\x1b[0m\x1b[1;39m:\x1b[0m\x1b[1;39m[\x1b[0m\x1b[0;90mnull\x1b[0m\x1b[1;39m,\x1b[0m\x1b[0;39mtrue\x1b[0m\x1b[1;39m,\x1b[0m\x1b[0;39m1\x1b[0m\x1b[1;39m,\x1b[0m\x1b[0;32m\"s\"\x1b[0m\x1b[1;39m]\x1b[0m\x1b[1;39m}\x1b[0m", style{color: true}},
		{"colour and indent", `[[],1]`, "\x1b[1;39m[\x1b[0m\n  \x1b[1;39m[]\x1b[0m\x1b[1;39m,\x1b[0m\n  \x1b[0;39m1\x1b[0m\n\x1b[1;39m]\x1b[0m", style{indent: true, color: true}},
		{"C1, DEL and bidirectional controls", "\"\u0085\u009b\x7f\u202a\u2069é\u2028\"", `"\u0085\u009b\u007f\u202a\u2069é` + "\u2028\"", style{escape: true}},
		{"bytes that are not UTF-8", "\"a\x9bb\"", "\"a\ufffdb\"", style{escape: true}},
		{"not JSON", "{\x1b[31m]}", "{\\u001b[31m]}", style{escape: true}},
		{"missing closing brackets", `{"a`, "{\n  \"a", style{indent: true}},
		{"too many closing brackets", `]]}`, "\n]\n]\n}", style{indent: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(test.look.append(nil, []byte(test.in))); got != test.want {
				t.Errorf("%s\n got %q\nwant %q", test.in, got, test.want)
			}
		})
	}
}

// The indentation of deep nesting is bounded.
func TestPrettyOfDeepNesting(t *testing.T) {
	testkit.RaceSkips(t)
	const depth = 100000
	val := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
	if n := len(style{indent: true}.append(nil, val)); n > 2*depth*(2*maxIndent+2) {
		t.Errorf("%d bytes for a value of %d bytes", n, len(val))
	}
}

// Indenting does not change the value, and indenting twice does not change the bytes.
func FuzzPretty(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":[]},{}],"c":"x\"y\\"}`, `[[[]]]`, `"\u009b"`, "\"\u009b\u202e\"", `{"":{"":1e1000}}`, " [ 1 ,\n2 ] ", `{"a`, "\x1b[31m",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, val []byte) {
		pretty := style{indent: true}.append(nil, val)
		shown := style{indent: true, escape: true}.append(nil, val)
		if s := string(shown); Clean(s) != s {
			t.Fatalf("control characters for a terminal: %q", s)
		}
		style{indent: true, color: true, escape: true}.append(nil, val)
		if scan.Valid(val, 1000) != nil {
			return
		}
		if again := (style{indent: true}).append(nil, pretty); !bytes.Equal(again, pretty) {
			t.Fatalf("indented again,\n%q became\n%q", pretty, again)
		}
		if got, want := compact(t, pretty), compact(t, val); !bytes.Equal(got, want) {
			t.Fatalf("%q became %q", want, got)
		}
		if flat := (style{color: false}).append(nil, val); !bytes.Equal(flat, compact(t, val)) {
			t.Fatalf("%q is not compact", flat)
		}
		if utf8.Valid(val) && !scan.Equal(shown, val) {
			t.Fatalf("%q is printed as %q", val, shown)
		}
	})
}

func compact(t *testing.T, val []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, val); err != nil {
		t.Fatalf("%q: %v", val, err)
	}
	return b.Bytes()
}

func TestClean(t *testing.T) {
	tests := []struct{ in, text, line string }{
		{"plain é 日本", "plain é 日本", "plain é 日本"},
		{"a\tb\nc", "a\tb\nc", "a b c"},
		{"a\r\nb\n", "a\nb\n", "a b"},
		{"a\rb", `a\u000db`, `a\u000db`},
		{"\x1b[31mred\x1b[0m", `\u001b[31mred\u001b[0m`, `\u001b[31mred\u001b[0m`},
		{"\u009b31m\x7f\x00", `\u009b31m\u007f\u0000`, `\u009b31m\u007f\u0000`},
		{"user\u202etxt.exe\u2066", `user\u202etxt.exe\u2066`, `user\u202etxt.exe\u2066`},
		{"\x9b31m", "\ufffd31m", "\ufffd31m"},
		{"", "", ""},
	}
	for _, test := range tests {
		if got := Clean(test.in); got != test.text {
			t.Errorf("Clean(%q) = %q, want %q", test.in, got, test.text)
		}
		if got := CleanLine(test.in); got != test.line {
			t.Errorf("CleanLine(%q) = %q, want %q", test.in, got, test.line)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":              "''",
		"getOrder":      "getOrder",
		"id=o_001":      "id=o_001",
		"n:=5":          "n:=5",
		"ws://h:1/p":    "ws://h:1/p",
		"ws://h/?a=b&c": "'ws://h/?a=b&c'",
		"it's":          `'it'\''s'`,
		`{"a":1}`:       `'{"a":1}'`,
		"$(rm -rf ~)":   "'$(rm -rf ~)'",
		"~root":         "'~root'",
		"é":             "'é'",
		"a\nb":          "'a\nb'",
	} {
		if got := wire.Quote(in); got != want {
			t.Errorf("wire.Quote(%q) = %s, want %s", in, got, want)
		}
	}
	if got := QuoteAll([]string{"rpcx", "call", "a b"}); got != "rpcx call 'a b'" {
		t.Error(got)
	}
}

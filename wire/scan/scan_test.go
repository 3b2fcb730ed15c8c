package scan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// values has valid and slightly invalid JSON, for comparison with encoding/json.
var values = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `1`, `-1`, `10`, `1.5`, `0.10`, `1e5`, `1E+5`, `1e-5`, `true`, `false`, `null`,
	`{"a":1}`, `{"a":1,"b":[1,2,{"c":null}]}`, `[1,"x",true]`, ` [ 1 , 2 ] `, "\t{\r\n\"a\" : 1 }\n", `"\u00e9\n\"\\\/\b\f\r\t"`,
	`"` + strings.Repeat("x", 7) + `"`, `"` + strings.Repeat("x", 8) + `"`, `"` + strings.Repeat("é", 20) + `\""`,
	"\"\x7f\x80\xff\"", `{"":""}`, `[[[[]]]]`, `[{},{}]`, `"\ud83d\ude00"`, `"\ud800"`, `123456789012345678901234567890`,
	``, ` `, `{`, `[`, `}`, `]`, `"`, `"abc`, `"abcdefghijk`, `"\`, `"\u`, `"\u12`, `"\u12g4"`, `"\x"`, `'a'`, `-`, `+1`, `01`, `-01`, `1.`, `.5`,
	`1.e5`, `1e`, `1e+`, `1ee5`, `0x10`, `--1`, `-a`, `tru`, `truE`, `trueq`, `nul`, `nulll`, `fals`, `True`, `NaN`, `Infinity`,
	`[1,]`, `[,1]`, `[1 2]`, `[1,,2]`, `[1`, `[1,`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{a:1}`, `{"a" 1}`,
	`{"a":1]`, `[1}`, `{"a":1}}`, `{} {}`, `1 2`, `"a" "b"`, "\"a\nb\"", "\"\x00\"", "\"abcdefgh\x1f\"", "\x00", "[1\x00]", "{\"a\":\v1}",
	`{"a":"b`, `{"a":"b"`, `{"a"`, `{"a":`, `{"a`, `{1:2}`, "\ufeff{}", `// x`, `[1]//`, `nan`, `[tru]`, `[1.]`, `[-]`, `{"a":01}`,
}

const deepEnough = 10000

func TestValidAgreesWithEncodingJSON(t *testing.T) {
	for _, v := range values {
		if got, want := Valid([]byte(v), deepEnough) == nil, json.Valid([]byte(v)); got != want {
			t.Errorf("Valid(%q) = %v, encoding/json returns %v", v, got, want)
		}
	}
}

// namesOf returns the names that Keys yields.
func namesOf(b []byte, depth int) (names []string, err error) {
	err = Keys(b, depth, func(name []byte) { names = append(names, string(name)) }, func([]byte) {})
	return names, err
}

// plain stops at the first byte that is not plain.
func TestRunsEndAtTheirEnd(t *testing.T) {
	for n := range 70 {
		for _, end := range []string{"", "\"", "\\", "\x1f", "\x00", "\x80", "\xff"} {
			for _, behind := range []string{"", "abcdefgh\"", "\\\"\x01\xc3", strings.Repeat("~ \x7f", 20)} {
				if end == "" && behind != "" {
					continue
				}
				b := []byte(strings.Repeat("a ~\x7f#[]!", 9)[:n] + end + behind)
				if got := asciiRun(b, 0); got != n {
					t.Errorf("%q: asciiRun is %d", b, got)
				}
				b = []byte(strings.Repeat("a0z9~", 14)[:n] + end + behind)
				if got := wordRun(b, 0); got != n {
					t.Errorf("%q: wordRun is %d", b, got)
				}
				got, want := plain(b, 0), n
				if end == "\x80" || end == "\xff" {
					want = n + 1 + plain([]byte(behind), 0)
				}
				if got != want {
					t.Errorf("%q: plain is %d, want %d", b, got, want)
				}
				ascii := true
				for _, c := range b {
					ascii = ascii && c >= ' ' && c < 0x80
				}
				if IsASCII(b) != ascii {
					t.Errorf("%q: IsASCII is %v", b, !ascii)
				}
			}
		}
	}
}

func TestKeys(t *testing.T) {
	for _, v := range append([]string{`{"a":{"b":[{"c":"d"},[{"e\n":1}]],"":2},"a":3}`}, values...) {
		for _, depth := range []int{0, 1, 3, deepEnough} {
			want := Valid([]byte(v), depth)
			if names, err := namesOf([]byte(v), depth); fmt.Sprint(err) != fmt.Sprint(want) {
				t.Errorf("Keys(%q) = %v, %v; Valid returns %v", v, names, err, want)
			}
		}
	}
	names, _ := namesOf([]byte(`{"a":{"b":[{"c":"d"},[{"e\n":1}]],"":2},"a":3}`), deepEnough)
	if want := []string{"a", "b", "c", `e\n`, "", "a"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

func TestErrorsNameThePlaceAndTheReason(t *testing.T) {
	for _, c := range []struct {
		in     string
		offset int
		what   string
		cut    bool
	}{
		{`{"a":1,}`, 7, "expected a key in double quotes", false},
		{`{"a" 1}`, 5, "expected a colon after the key", false},
		{`{"a":1 "b":2}`, 7, "expected a comma or } after the member", false},
		{`[1 2]`, 3, "expected a comma or ] after the element", false},
		{`{"a":tru}`, 8, "expected true, false or null", false},
		{`[01]`, 2, "expected a comma or ] after the element", false},
		{`[1.]`, 3, "malformed number", false},
		{`"a\x"`, 3, "malformed escape in a string", false},
		{"\"a\nb\"", 2, "control character in a string", false},
		{`{} {}`, 3, "more than one JSON value", false},
		{`hello`, 0, "expected a JSON value", false},
		{``, 0, "unexpected end of JSON", true},
		{`{"a":`, 5, "unexpected end of JSON", true},
		{`"abc`, 4, "unexpected end of JSON", true},
		{`[tru`, 4, "unexpected end of JSON", true},
		{`[1e+`, 4, "unexpected end of JSON", true},
	} {
		var e *Error
		if !errors.As(Valid([]byte(c.in), 10), &e) {
			t.Errorf("Valid(%q) returned no *Error", c.in)
			continue
		}
		if e.Offset != c.offset || e.What != c.what || e.Cut != c.cut {
			t.Errorf("Valid(%q) = %+v, want %q at %d, cut %v", c.in, *e, c.what, c.offset, c.cut)
		}
	}
}

func TestDepthIsTheNestingAllowed(t *testing.T) {
	nest := func(n int) []byte {
		return []byte(strings.Repeat(`[`, n) + strings.Repeat(`]`, n))
	}
	for _, c := range []struct {
		nesting, depth int
		ok             bool
	}{{0, 0, false}, {1, 0, false}, {1, 1, true}, {2, 1, false}, {1000, 1000, true}, {1001, 1000, false}} {
		err := Valid(nest(c.nesting), c.depth)
		if (err == nil) != c.ok {
			t.Errorf("%d nested, %d allowed: %v", c.nesting, c.depth, err)
		}
		var e *Error
		if c.nesting > c.depth && (!errors.As(err, &e) || !e.Deep) {
			t.Errorf("%d nested, %d allowed: %v, want too deep", c.nesting, c.depth, err)
		}
		m := ReadArray(nest(c.nesting), c.depth)
		for _, _, more := m.Next(); more; _, _, more = m.Next() {
		}
		if (m.Err() == nil) != c.ok {
			t.Errorf("Array: %d nested, %d allowed: %v", c.nesting, c.depth, m.Err())
		}
	}
	if Valid([]byte(`7`), 0) != nil {
		t.Error("a scalar has no depth")
	}
	if Valid([]byte(`{"a":[{}]}`), 2) == nil || Valid([]byte(`{"a":[{}]}`), 3) != nil {
		t.Error("objects and arrays must have the same depth")
	}
}

func TestValueStopsAtItsEnd(t *testing.T) {
	for _, c := range []struct {
		in   string
		i    int
		want string
	}{
		{`{"a":1}{"b":2}`, 0, `{"a":1}`},
		{`{"a":1}{"b":2}`, 7, `{"b":2}`},
		{`12 13`, 0, `12`},
		{`12,13`, 3, `13`},
		{`"a""b"`, 3, `"b"`},
		{`truefalse`, 0, `true`},
		{`1.5e3x`, 0, `1.5e3`},
		{`01`, 0, `0`},
	} {
		end, err := Value([]byte(c.in), c.i, 9)
		if err != nil || c.in[c.i:end] != c.want {
			t.Errorf("Value(%q, %d) ends at %d, %v; want %q", c.in, c.i, end, err, c.want)
		}
	}
}

func TestMembersOfObject(t *testing.T) {
	in := []byte(" { \"a\" : 1 , \"b\\u0063\":[1, 2],\"d\":{\"e\":\"}\"}\n} ")
	m := ReadObject(in, 5)
	var got []string
	for k, v, ok := m.Next(); ok; k, v, ok = m.Next() {
		got = append(got, string(k)+"="+string(v))
	}
	if want := []string{`a=1`, `b\u0063=[1, 2]`, `d={"e":"}"}`}; !slices.Equal(got, want) || m.Err() != nil {
		t.Errorf("got %q, %v", got, m.Err())
	}
	if _, _, ok := m.Next(); ok {
		t.Error("Next continues after the end")
	}
}

func TestMembersAgreesWithValid(t *testing.T) {
	for _, v := range values {
		b := []byte(v)
		first := Skip(b, 0)
		if first == len(b) || b[first] != '{' && b[first] != '[' {
			for _, m := range []Cursor{ReadObject(b, 9), ReadArray(b, 9)} {
				if _, _, ok := m.Next(); ok || m.Err() == nil {
					t.Errorf("%q has members, or no error", v)
				}
			}
			continue
		}
		m, other := ReadObject(b, 9), ReadArray(b, 9)
		if b[first] == '[' {
			m, other = other, m
		}
		for _, val, ok := m.Next(); ok; _, val, ok = m.Next() {
			if !json.Valid(val) {
				t.Errorf("%q: broken member %q", v, val)
			}
		}
		if (m.Err() == nil) != json.Valid(b) {
			t.Errorf("%q: %v", v, m.Err())
		}
		if other.Err() == nil {
			t.Errorf("%q: the wrong type", v)
		}
	}
}

func TestMembersKeepsNothingAndAllocatesNothing(t *testing.T) {
	msg := []byte(message)
	n := testing.AllocsPerRun(100, func() { walk(msg) })
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// walk reads a message as Decode in a dialect does.
func walk(msg []byte) (result []byte, err error) {
	var params []byte
	m := ReadObject(msg, 1000)
	for k, v, ok := m.Next(); ok; k, v, ok = m.Next() {
		if string(k) == "params" {
			params = v
		}
	}
	return params, m.Err()
}

func FuzzValid(f *testing.F) {
	for _, v := range values {
		f.Add([]byte(v), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, cutAt int) {
		kept := bytes.Clone(b)
		ours, theirs := Valid(b, deepEnough), json.Valid(b)
		if (ours == nil) != theirs {
			t.Fatalf("%q: %v, encoding/json returns %v", b, ours, theirs)
		}
		checkDecoder(t, b, cutAt)
		checkText(t, b, theirs)
		if !bytes.Equal(b, kept) {
			t.Fatalf("%q was changed", kept)
		}
	})
}

func TestPointers(t *testing.T) {
	const text = `{"a":[1,{"b/c":2,"~":null}],"":3}`
	var decoded any
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{
		"": text, "/a/0": "1", "/a/1/b~1c": "2", "/a/1/~0": "null", "/": "3",
		"a": "", "/b": "", "/a/2": "", "/a/-1": "", "/a/x": "", "/a/0/x": "", "/a/1/b": "",
	} {
		val, there := Lookup(decoded, pointer)
		if got := string(At([]byte(text), pointer)); got != want || there != (want != "") {
			t.Errorf("%q: got %s and %v, want %s", pointer, got, val, want)
		}
	}
}

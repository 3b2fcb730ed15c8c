package scan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestGet(t *testing.T) {
	obj := []byte(`{"a":1,"b\u0063":"x","a":2,"n":{"a":3}, "":null}`)
	for key, want := range map[string]string{"a": "1", "bc": `"x"`, "n": `{"a":3}`, "": "null"} {
		if got := Get(obj, key); string(got) != want {
			t.Errorf("Get %q = %q, want %q", key, got, want)
		}
	}
	for _, none := range []string{`{}`, `[1]`, ``, `"a"`, `{"a`} {
		if got := Get([]byte(none), "a"); got != nil {
			t.Errorf("Get from %q = %q", none, got)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		`""`: "", `"abc"`: "abc", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u00e9"`: "é", `"\ud83d\ude00"`: "😀",
		`"\ud83d"`: "\ufffd", `"\ud83dx"`: "\ufffdx", `"\ude00\ud83d"`: "\ufffd\ufffd", `"\ud83d\u0041"`: "\ufffdA", "\"\xff\"": "\xff",
	} {
		if got, ok := Text([]byte(in)); !ok || got != want {
			t.Errorf("Text(%s) = %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{``, `"`, `a`, `1`, `{}`, `"a`, `"a"b`, `"\x"`, `"\"`} {
		if _, ok := Text([]byte(in)); ok {
			t.Errorf("Text(%q) is ok", in)
		}
	}
}

func TestType(t *testing.T) {
	for in, want := range map[string]byte{`{}`: 'o', `[]`: 'a', `""`: 's', `-1`: 'n', `7`: 'n', `true`: 't', `false`: 'f', `null`: '0', ``: 0, `x`: 0} {
		if got := Type([]byte(in)); got != want {
			t.Errorf("Type(%q) = %c", in, got)
		}
	}
}

func TestCompact(t *testing.T) {
	for in, want := range map[string]string{
		`{ "a" : 1 }`:                  `{ "a" : 1 }`,
		"{\n \"a b\" :\t[1,\r\n2]\n}":  `{"a b":[1,2]}`,
		"[\r1 , \" \\\" \\n\"\r]":      `[1," \" \n"]`,
		"[1]\n":                        `[1]`,
		"{\"broken\n line\": 1, \n 2}": "{\"broken\n line\": 1, \n 2}",
	} {
		if got := Compact([]byte("x"), []byte(in)); string(got) != "x"+want {
			t.Errorf("Compact(%q) = %q", in, got)
		}
	}
}

func TestSplice(t *testing.T) {
	for _, c := range []struct{ obj, key, val, want string }{
		{`{"id":1,"m":"x"}`, "id", `"abc"`, `{"id":"abc","m":"x"}`},
		{`{"m":"x", "id" : 1 }`, "id", `22`, `{"m":"x", "id" : 22 }`},
		{`{"\u0069d":1}`, "id", `2`, `{"\u0069d":2}`},
		{`{}`, "id", `2`, `{"id":2}`},
		{` { } `, "id", `2`, ` {"id":2 } `},
		{`{"a":1}`, "x\"y\n", `2`, `{"x\"y\n":2,"a":1}`},
		{`[1]`, "id", `2`, `[1]`},
	} {
		if got := Splice([]byte(c.obj), c.key, []byte(c.val)); string(got) != c.want {
			t.Errorf("Splice(%s, %s) = %s, want %s", c.obj, c.key, got, c.want)
		}
	}
}

func TestAppendQuoted(t *testing.T) {
	for _, in := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "é😀\u2028<>&", "\xff\xfe"} {
		var got string
		if want, _ := Marshal(in); string(AppendQuoted(nil, in)) != string(want) {
			t.Errorf("%q is encoded as %s, by Marshal as %s", in, AppendQuoted(nil, in), want)
		}
		if err := json.Unmarshal(AppendQuoted(nil, in), &got); err != nil || got != strings.ToValidUTF8(in, "\ufffd\ufffd") && utf8.ValidString(in) {
			t.Errorf("%q becomes %s: %q, %v", in, AppendQuoted(nil, in), got, err)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1.0`, true},
		{`100`, `1e2`, true},
		{`0.001`, `1E-3`, true},
		{`-0`, `0`, true},
		{`0e5`, `0`, true},
		{`1`, `-1`, false},
		{`1`, `10`, false},
		{`9007199254740993`, `9007199254740992`, false},
		{`9007199254740993`, `9007199254740993.0`, true},
		{`1e999999999999999999999`, `1e999999999999999999999`, true},
		{`1e999999999999999999999`, `1e99999999999999999999`, false},
		{`0.1`, `0.10000000000000000001`, false},
		{`01`, `0`, false},
		{`1`, `"1"`, false},
		{`"a"`, `"\u0061"`, true},
		{`"a"`, `"b"`, false},
		{`true`, `false`, false},
		{`null`, ` null `, true},
		{`null`, `0`, false},
		{`[1,2]`, "[ 1,\n2 ]", true},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,2]`, false},
		{`[]`, `[ ]`, true},
		{`[]`, `{}`, false},
		{`{"a":1,"b":2}`, `{"b":2.0,"\u0061":1}`, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1}`, `{"a":1,"b":1}`, false},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`{"a":{"b":[{"c":1}]}}`, `{ "a":{"b":[{"c":1e0}]}}`, true},
	} {
		if Equal([]byte(c.a), []byte(c.b)) != c.same || Equal([]byte(c.b), []byte(c.a)) != c.same {
			t.Errorf("Equal(%s, %s) is not %v", c.a, c.b, c.same)
		}
	}
}

func TestDecoderAtEveryCut(t *testing.T) {
	for _, v := range values {
		for cutAt := range len(v) + 1 {
			checkDecoder(t, []byte(v), cutAt)
		}
	}
}

func TestDecoderStopsAtTheEnd(t *testing.T) {
	for in, want := range map[string]int{`{"a":1}{"b":2}`: 7, ` [1]x`: 4, `"a""b"`: 3, `12 `: 2, `truefalse`: 4, "1.5\n": 3} {
		d := Decoder{Depth: 3}
		if n, done, err := d.Next([]byte(in)); n != want || !done || err != nil {
			t.Errorf("%q: %d, %v, %v; want %d", in, n, done, err, want)
		}
	}
	d := Decoder{Depth: 1}
	var e *Error
	if _, _, err := d.Next([]byte(`[[`)); !errors.As(err, &e) || !e.Deep || e.Offset != 1 {
		t.Errorf("too deep: %v", err)
	}
}

// checkDecoder compares the result of the decoder, which gets b in two pieces, with that of Value.
func checkDecoder(t *testing.T, b []byte, cutAt int) {
	t.Helper()
	d := Decoder{Depth: 50}
	cutAt = min(max(cutAt, 0), len(b))
	got, done, err := d.Next(b[:cutAt])
	if !done && err == nil {
		got, done, err = d.Next(b)
	}
	end, want := Value(b, Skip(b, 0), 50)
	var theirs, ours *Error
	if whole := !errors.As(want, &theirs) || !theirs.Cut; whole && !done && err == nil { // a number ends before the next byte
		got, done, err = d.Next(append(bytes.Clone(b), ' '))
	}
	switch {
	case want == nil:
		if !done || got != end {
			t.Fatalf("%q cut at %d: decoder ends at %d (%v, %v), Value at %d", b, cutAt, got, done, err, end)
		}
	case theirs.Cut:
		if done || err != nil {
			t.Fatalf("%q cut at %d: decoder returns %v, %v, Value reports a cut", b, cutAt, done, err)
		}
	case !errors.As(err, &ours) || *ours != *theirs:
		t.Fatalf("%q cut at %d: decoder returns %v, Value returns %v", b, cutAt, err, want)
	}
}

// checkText compares Text, Compact and Equal with encoding/json.
func checkText(t *testing.T, b []byte, valid bool) {
	t.Helper()
	small := Compact(nil, b)
	if !valid {
		return
	}
	if bytes.ContainsAny(small, "\n\r") || !json.Valid(small) {
		t.Fatalf("%q compacted is %q", b, small)
	}
	if !Equal(b, small) {
		t.Fatalf("%q and %q are not equal", b, small)
	}
	var want string
	if trimmed := Trim(b); Type(trimmed) == 's' && utf8.Valid(b) && json.Unmarshal(b, &want) == nil {
		if got, ok := Text(trimmed); !ok || got != want {
			t.Fatalf("Text(%q) = %q, %v; want %q", trimmed, got, ok, want)
		}
	}
	if Type(Trim(b)) == 'o' {
		if got := Get(Splice(b, "new key", []byte(`[1]`)), "new key"); string(got) != "[1]" {
			t.Fatalf("Splice into %q: %q", b, got)
		}
	}
}

// The first spelling of each line is the canonical form of all of them.
func TestCanonical(t *testing.T) {
	for _, same := range [][]string{
		{`1`, `1.0`, `10e-1`, `1e0`, `0.1E+1`},
		{`0`, `-0`, `0.00`, `0e7`},
		{`100`, `1e2`, `100.0`},
		{`-100`, `-1e2`, `-100.0`},
		{`15e-1`, `1.5`, `1.50`},
		{`99999999999999999999`, `99999999999999999999.0`},
		{`1e20`, `100000000000000000000`, `1E+20`},
		{`9007199254740993`, `9007199254740993.0`},
		{`1e999999999999999999999`},
		{`1e99999999999`, `10e99999999998`},
		{`"é"`, `"\u00e9"`, `"\u00E9"`},
		{`"a/b"`, `"a\/b"`, `"a\u002fb"`},
		{`"\u2028"`, "\"\u2028\""},
		{`"😀"`, `"\ud83d\ude00"`},
		{`"\"\\\n\u0000"`, `"\u0022\u005c\u000A\u0000"`},
		{`""`},
		{`"1"`},
		{`"1.0"`},
		{`null`},
		{`{"a":[1,"x y"]}`, "{ \"a\" : [1,\n \"x y\"] }"},
		{`[]`, `[ ]`},
		{`01`},
		{``},
		{"\x005"},
	} {
		for _, one := range same {
			if got := string(Canonical([]byte(one))); got != same[0] {
				t.Errorf("Canonical(%s) = %s, want %s", one, got, same[0])
			}
		}
	}
	for _, usual := range []string{`7`, `12345678901234567890`, `"6f9619ff-8b86-d011-b42d-00cf4fc964ff"`} {
		id := []byte(usual)
		if n := testing.AllocsPerRun(100, func() { _ = Canonical(id) }); n != 0 || &Canonical(id)[0] != &id[0] {
			t.Errorf("Canonical(%s) allocates", usual)
		}
	}
}

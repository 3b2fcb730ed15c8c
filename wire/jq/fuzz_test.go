package jq

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// slow returns the result of src for in from gojq itself.
func slow(src string, in []byte) (string, string, error) {
	q, err := gojq.Parse(src)
	if err != nil {
		return "", "", err
	}
	v, err := Decode(in)
	if err != nil {
		return "", err.Error(), nil
	}
	var lines []string
	iter := q.Run(v)
	for {
		v, ok := iter.Next()
		if !ok {
			return strings.Join(lines, "\n"), "", nil
		}
		if err, ok := v.(error); ok {
			return strings.Join(lines, "\n"), err.Error(), nil
		}
		b, _ := gojq.Marshal(v)
		lines = append(lines, string(b))
	}
}

var paths = []string{
	`.`, `.a`, `.a.b`, `.a.b.c`, `.a[0]`, `.[0].a`, `.[-1]`, `.a[-2].b`, `.["a"]`, `."a"`, `.a["b"]`, `."é"`, `."\ufffd"`,
	`.a | .b`, `(.a) | .b`, `.a | (.b | .c)`, `.a[]`, `.a[].b`, `.a[]?`, `.a?`, `.a.b?`, `.a.b?.c`, `.a[1:]`, `.a[:1][0]`, `.[1.5]`, `.[1,0]`,
	`.a | {b}`, `.a | ., 1`, `.a as $x | $x.b`, `.a as [$x] | $x`, `.a // .b`, `.a = 1`, `.a |= 1`, `path(.a)`, `.a | path(.b)`, `try .a catch .`,
	`[.a, .b]`, `.a, .b`, `-.a`, `.[-0]`, `.a | length`, `.[1e0]`, `..`, `.a | ..`, `.a.b | tostring`, `.a | label $x | .b, break $x`, `."a\(1)"`,
	`def f: .b; .a | f`, `def f: .b; .a`, `.a | def f: .b; f`, `(def f: .a; f) | .b`, `def f: 1; (def g: .b; .a) | ., f`, `.a as $x | .b | $x`, `reduce .a as $x (0; 1)`,
	`.a == 1, has("b")`, `if .a then .b else {c, d: .b.a} end`, `"\(.a) \(.[0]?)"`, `any(.a[]?; .)`, `try error(.a) catch .`, `.a.b.c.d.e.f.g.h`, `.a[-2].c`, `.a[-1]["b"]`, `.[-3]`, `.["a"][-4]`, `.[0] == .[1]`, `[.a[.b]?]`,
}

// canonical returns lines of JSON as gojq would write them, because selected values keep their own key order and text.
func canonical(lines string) string {
	var all []string
	for line := range strings.Lines(lines) {
		v, err := Decode([]byte(line))
		b, _ := gojq.Marshal(v)
		if all = append(all, string(b)); err != nil {
			return err.Error()
		}
	}
	return strings.Join(all, "\n")
}

func FuzzPathEqualsGojq(f *testing.F) {
	for _, in := range []string{
		`{"a":{"b":{"c":1.50}}}`, `[{"a":1},{"a":[2]}]`, `{"a":[{"b":"x"},{"b":"y"},3]}`, `null`, `"text"`, `12e400`, ` { "\u0061" : {"b":"\u00e9\ud83d\ude00\ud800"} } `,
		`{"a":1,"b":{"a":[2]},"c":null,"d":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`, `[{"a":1},2,"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]`,
		`{"a":1,"a":{"b":[],"b":null}}`, "{\"\xff\":1,\"a\":\"\x7f\xff\"}", `{"a":"\u007f","é":"é"}`, `{"a":}`, `[1,]`, `{"a":{"b":2}`, `{"a":1}x`, ``, `tru`,
	} {
		for i := range paths {
			f.Add(i, []byte(in))
		}
	}
	f.Fuzz(func(t *testing.T, i int, in []byte) {
		src := paths[uint(i)%uint(len(paths))]
		want, wantErr, err := slow(src, in)
		testkit.OK(t, err)
		p := compiled(t, src, Options{})
		got, err := run(t.Context(), p, string(in))
		gotErr := ""
		if err != nil {
			gotErr = strings.TrimPrefix(strings.TrimPrefix(err.Error(), "jq: "), "the input is not JSON: ")
		}
		if canonical(got) != want || (gotErr == "") != (wantErr == "") || gotErr != wantErr && scan.Valid(in, maxDepth) == nil {
			t.Errorf("%s on %q:\n got %s, %s\nwant %s, %s", src, in, got, gotErr, want, wantErr)
		}
	})
}

func FuzzDecodeEqualsEncodingJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,-0,1e-7,true,false,null,"x\n\u00e9\ud83d\ude00\ud800x\/"],"a":{}}`, `[[],{},[ ] , { }]`, "\"\xff\xc0\x80\"", `"\ud83d"`, ` 1 `, `{"":""}`, `"\ud800\u0041"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		dec := json.NewDecoder(bytes.NewReader(in))
		dec.UseNumber()
		var want any
		valid := json.Valid(in) && dec.Decode(&want) == nil
		got, err := Decode(in)
		if (err == nil) != valid {
			t.Fatalf("%q: %v, encoding/json says %v", in, err, valid)
		}
		if valid && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", in, got, want)
		}
		if !valid {
			return
		}
		out := Encode(got)
		if !utf8.Valid(out) || !json.Valid(out) {
			t.Fatalf("%q: encoded as %q", in, out)
		}
		if again, err := Decode(out); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%q: encoded as %q", in, out)
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		Compile(`.params.result | {number, hash}`, Options{})
	}
}

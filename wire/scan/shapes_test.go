package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// told returns the names that s passes to its callback, which rejects those in bad.
func told(s *Shapes, b string, bad ...string) (names []string, ok bool) {
	ok, _ = s.Valid([]byte(b), deepEnough, func(name []byte) bool {
		names = append(names, string(name))
		return !slices.Contains(bad, string(name))
	}, func([]byte, bool) bool { return true })
	return names, ok
}

// For a message of a known shape, no names are passed on.
func TestShapes(t *testing.T) {
	var s Shapes
	for _, c := range []struct {
		in    string
		ok    bool
		names string
	}{
		{`{"id":1,"a":{"b":[true,"x"],"c":{}}}`, true, "[id a b c]"},
		{`{"id":"x","a":{"b":[null,-2.5e3],"c":{}}}`, true, "[]"},
		{`{"id":1,"a":{"b":["\"}","\u00e9:"],"c":{}}}`, true, "[]"},
		{`{"id":1,"a":{"b":[true,"x"],"c":{}}} `, true, "[id a b c]"},
		{`{"id":1,"a":{"b":[true,"x"],"c":{}}`, false, "[id a b c]"},
		{`{"id":01,"a":{"b":[true,"x"],"c":{}}}`, false, "[id]"},
		{`{"id":1,"a":{"b":[tru,"x"],"c":{}}}`, false, "[id a b]"},
		{`{"id":{},"a":{"b":[true,"x"],"c":{}}}`, true, "[id a b c]"},
		{`{"id":1,"a":{"b":[true,"x"],"d":{}}}`, true, "[id a b d]"},
		{`{"id":1,"a":{"b":[true,"x"],"d":[]}}`, true, "[id a b d]"},
		{`{"id":1,"a":{"b":[],"d":[]}}`, true, "[id a b d]"},
		{`{"id":1,"a":{"b":[],"d":[]}}`, true, "[]"},
		{`{"n":10,"s":"ab","t":true}`, true, "[n s t]"}, // the other names or scalars are as long as n
		{`{"n":11,"s":"cd","t":null}`, true, "[]"},
		{`{"n":01,"s":"cd","t":null}`, false, "[n]"},
		{`{"n":"","s":"\n","t":true}`, true, "[]"},
		{`{"n":1 ,"s":"cd","t":true}`, true, "[n s t]"},
		{`{"n":12,"s":"é","t":true}`, true, "[]"},
		{`{"n":1,"s":"abc","t":true}`, true, "[]"},
		{`{"n":13,"s":"ab","t":tru0}`, false, "[n s t]"},
		{`{"n":13,"u":"ab","t":true}`, true, "[n u t]"},
		{`1`, true, "[]"},
		{`"a"`, true, "[]"},
		{`"a`, false, "[]"},
		{`1 2`, false, "[]"},
		{``, false, "[]"},
		{`{}`, true, "[]"},
		{`{"a":1}`, true, "[a]"},
	} {
		if names, ok := told(&s, c.in); ok != c.ok || fmt.Sprint(names) != c.names {
			t.Errorf("%s: %v, %v", c.in, names, ok)
		}
	}
}

// A rejected name is passed on each time.
func TestShapesThatAreNone(t *testing.T) {
	var s Shapes
	for range 50 {
		if names, ok := told(&s, `{"a":1,"b":2,"c":3}`, "b"); !ok || len(names) != 3 {
			t.Fatalf("%v, %v", names, ok)
		}
	}
	long := `{"a":[` + string(bytes.Repeat([]byte("1,"), 2*maxParts)) + `1]}`
	for range 50 {
		if names, ok := told(&s, long); !ok || len(names) != 1 {
			t.Fatalf("%v, %v", names, ok)
		}
	}
}

// Shapes agrees with Valid for messages in any order, and passes on each rejected name.
func TestShapesJudgeAsValidDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	seeds := append([]string{`{"id":1,"result":{"id":"o_1","lines":[{"n":1},{"n":2}],"secret":"x"}}`, `{"id":1,"a":"b"}`, `[1,{"secret":2}]`}, values...)
	for range 200 {
		var s Shapes
		b := []byte(seeds[r.IntN(len(seeds))])
		for range 50 {
			judge(t, &s, b)
			b = bytes.Clone(b)
			switch other := seeds[r.IntN(len(seeds))]; {
			case r.IntN(4) == 0, len(b) == 0:
				b = []byte(other)
			case r.IntN(2) == 0:
				b[r.IntN(len(b))] = `{}[]",:1e "\a`[r.IntN(13)]
			default:
				i := r.IntN(len(b))
				b = slices.Insert(b, i, []byte(other[r.IntN(len(other)+1):])...)
			}
		}
	}
}

// judge compares s with Valid and Keys for the message b.
func judge(t *testing.T, s *Shapes, b []byte) {
	t.Helper()
	secret, names := false, []string{}
	ok, ascii := s.Valid(b, deepEnough, func(name []byte) bool {
		names = append(names, string(name))
		secret = secret || string(name) == "secret"
		return string(name) != "secret"
	}, func([]byte, bool) bool { return true })
	if ascii && !IsASCII(b) {
		t.Fatalf("%q counts as ASCII", b)
	}
	want, err := namesOf(b, deepEnough)
	if ok != (err == nil) {
		t.Fatalf("%q: %v, but %v", b, ok, err)
	}
	if slices.Contains(want, "secret") && !secret || len(names) > 0 && !slices.Equal(names, want) {
		t.Fatalf("%q: got %q, want %q", b, names, want)
	}
}

func FuzzShapes(f *testing.F) {
	for _, v := range values {
		f.Add([]byte(v), []byte(`{"id":1,"a":[2,"x"],"secret":{}}`))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var s Shapes
		for range 3 {
			judge(t, &s, a)
			judge(t, &s, b)
		}
	})
}

// A string is passed on until it is accepted in its place, even in a known shape. A rejected string is passed on each time.
func TestShapesPassStrings(t *testing.T) {
	var s Shapes
	for _, c := range []struct{ in, texts string }{
		{`{"a":"x","b":["y",1]}`, `["x" "y"]`},
		{`{"a":"x","b":["y",2]}`, `[]`},
		{`{"a":"x","b":["z",2]}`, `["z"]`},
		{`{"a":"x","b":["longer",2]}`, `["longer"]`},
		{`{"a":"bad","b":["z",2]}`, `["bad"]`},
		{`{"a":"bad","b":["z",2]}`, `["bad"]`},
		{`{"a":"x","b":["bad",2]}`, `["bad"]`},
		{`{"a":"x","b":["longer",3]}`, `[]`},
		{`"bad"`, `["bad"]`},
		{`"bad"`, `["bad"]`},
	} {
		texts := []string{}
		ok, _ := s.Valid([]byte(c.in), deepEnough, func([]byte) bool { return true }, func(b []byte, _ bool) bool {
			texts = append(texts, string(b))
			return string(b) != `"bad"`
		})
		if got := fmt.Sprint(texts); !ok || got != c.texts && !(strings.Contains(c.in, "bad") && strings.Contains(got, "bad")) {
			t.Errorf("%s: %v", c.in, got)
		}
	}
}

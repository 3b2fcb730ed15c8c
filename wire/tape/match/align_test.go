package match

import (
	"testing"

	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

// A moved, added or removed element and a renamed member are one difference each, and Patch applies it.
func TestAligned(t *testing.T) {
	r := NewRules(dialect.Shape{Method: "method", ID: "id"}, nil)
	for _, test := range []struct {
		want, got string
		words     []string
	}{
		{`{"a":["x","y","z"]}`, `{"a":["new","x","y","z"]}`, []string{`/a/0 is unexpected: "new"`}},
		{`{"a":["x","y","z"]}`, `{"a":["y","z"]}`, []string{`/a/0 is missing (expected "x")`}},
		{`{"a":["x","y","z"]}`, `{"a":["x"]}`, []string{`/a/1 is missing (expected "y")`, `/a/2 is missing (expected "z")`}},
		{`{"a":["x"]}`, `{"a":["x","y","z"]}`, []string{`/a/1 is unexpected: "y"`, `/a/2 is unexpected: "z"`}},
		{`{"a":["x","y","z","u"]}`, `{"a":["u","x","y","z"]}`, []string{"/a/3 is moved to /a/0"}},
		{`{"a":["x","y","z"]}`, `{"a":["X","Y","z"]}`, []string{`/a/0 is "X" instead of "x"`, `/a/1 is "Y" instead of "y"`}},
		{`{"a":[{"n":1,"b":[1,2,3]},2]}`, `{"a":[{"n":1,"b":[0,1,2,3]},2]}`, []string{`/a/0/b/0 is unexpected: 0`}},
		{`{"total":900,"b":1}`, `{"b":2,"sum":900}`, []string{"/total is renamed to sum", "/b is 2 instead of 1"}},
		{`{"total":900}`, `{"sum":901}`, []string{"/total is missing (expected 900)", "/sum is unexpected: 901"}},
	} {
		found := r.Compare("", []byte(test.want), []byte(test.got), &Values{})
		var words []string
		for _, d := range found {
			words = append(words, d.String()[len(": "):])
		}
		if len(words) != len(test.words) {
			t.Errorf("%s, %s: %q", test.want, test.got, words)
			continue
		}
		for i := range words {
			testkit.Expect(t, test.want+", "+test.got, words[i], test.words[i])
		}
		patched := Patch([]byte(test.want), found)
		if again := r.Compare("", patched, []byte(test.got), &Values{}); len(again) > 0 {
			t.Errorf("%s, %s: patched to %s", test.want, test.got, patched)
		}
	}
}

// PointerOf can read the paths that Program writes.
func TestProgram(t *testing.T) {
	const msg = `{"a":[{"b c":{"d":1}}],"0":2,"e\"f":3}`
	for pointer, want := range map[string]string{"/a/0/b c/d": `.a[0].["b c"].d`, "/0": `.["0"]`, `/e"f`: `.["e\"f"]`} {
		got, _ := Program([]byte(msg), pointer)
		if back, ok := PointerOf(got); got != want || !ok || back != pointer {
			t.Errorf("%s: %s, %s", pointer, got, back)
		}
	}
	for _, program := range []string{"", ".a | length", ".a[]", "now", ".a + .b"} {
		if pointer, ok := PointerOf(program); ok {
			t.Errorf("%s: %s", program, pointer)
		}
	}
}

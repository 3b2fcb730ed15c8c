package params

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                               nil,
		"  ":                             nil,
		"getOrder":                       {"getOrder"},
		" getOrder  id=o_001\tn:=1 ":     {"getOrder", "id=o_001", "n:=1"},
		`x a='b c' d="e \" f \n" g=h\ i`: {"x", "a=b c", `d=e " f \n`, "g=h i"},
		`x {"a": "b c", "d": [1, 2]}`:    {"x", `{"a": "b c", "d": [1, 2]}`},
		`x a:={"b": 1} c:=[1, 2] d:="e f"`: {
			"x", `a:={"b": 1}`, "c:=[1, 2]", `d:="e f"`,
		},
		`x '{"a":1}' "b c"`:  {"x", `{"a":1}`, `"b c"`},
		`x "}" {"a":"}\"{"}`: {"x", `"}"`, `{"a":"}\"{"}`},
		`x a={1 2`:           {"x", "a={1", "2"},
		`x ''`:               {"x", ""},
		`"my method" "a b"`:  {"my method", `"a b"`},
		"x é=ü":              {"x", "é=ü"},
	} {
		words, open, err := Split(line)
		if err != nil || open || !slices.Equal(words, want) {
			t.Errorf("%s: %q, %v, %v", line, words, open, err)
		}
	}
	for line, open := range map[string]bool{
		"x {": true, `x a:=[{"b": "]"`: true, `x a:=[{"b": "]`: false, `x "a`: false, "x 'a": false, `x a="b`: false, `x \`: false,
	} {
		if words, got, err := Split(line); err == nil || got != open {
			t.Errorf("%s: %q, open %v, %v", line, words, got, err)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{`x a='b c'`, `x {"a": [1]} "b"`, `x a:={"`, `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, open, err := Split(line)
		if err != nil && words != nil || open && err == nil {
			t.Fatalf("%q: %q, %v, %v", line, words, open, err)
		}
		if n := len(strings.Join(words, " ")); n > len(line) {
			t.Fatalf("%q became longer: %q", line, words)
		}
	})
}

package params

import (
	"maps"
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
		"x {": true, `x a:=[{"b": "]"`: true, `x a:=[{"b": "]`: false, `x "a`: false, "x 'a": false, `x a="b`: false, `x a="b\`: false, `x \`: false,
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

func TestParseArguments(t *testing.T) {
	for _, c := range []struct {
		words, args, kwargs string
		funcs               map[string]string
	}{
		{``, ``, ``, nil},
		{`Ada`, `["Ada"]`, ``, nil},
		{`1 1.0 true null "x" [1] {"a":1}`, `[1,1.0,true,null,"x",[1],{"a":1}]`, ``, nil},
		{`=1 :=1 =a=b - -1 12345678901234567890`, `["1",1,"a=b","-",-1,12345678901234567890]`, ``, nil},
		{`Ada name=1 n:=1 a.b=x`, `["Ada"]`, `{"name":"1","n":1,"a":{"b":"x"}}`, nil},
		{`@on=f x k@on=g a.b@on=f`, `[null,"x"]`, `{"k":null,"a":{"b":null}}`, map[string]string{"/args/0": "f", "/kwargs/k": "g", "/kwargs/a/b": "f"}},
	} {
		a, err := ParseArguments(strings.Fields(c.words), Options{Funcs: true})
		if err != nil || string(a.Args) != c.args || string(a.Kwargs) != c.kwargs || !maps.Equal(a.Funcs, c.funcs) {
			t.Errorf("%s: %s %s %v, %v", c.words, a.Args, a.Kwargs, a.Funcs, err)
		}
	}
	for _, bad := range []string{":=x", ":=", "@on=", "k@on=", "k:=x", "\xff", "=\xff"} {
		if a, err := ParseArguments([]string{bad}, Options{Funcs: true}); err == nil {
			t.Errorf("%q: %s %s", bad, a.Args, a.Kwargs)
		}
	}
}

func FuzzParseArguments(f *testing.F) {
	f.Add("a\x00k=v\x00@on=x")
	f.Fuzz(func(t *testing.T, s string) {
		words := strings.Split(s, "\x00")
		a, err := ParseArguments(words, Options{Funcs: true, ReadFile: func(string) ([]byte, error) { return []byte("{}"), nil }})
		if err != nil {
			return
		}
		for _, v := range [][]byte{a.Args, a.Kwargs} {
			if len(v) > 0 {
				if _, err := oneValue(v); err != nil {
					t.Fatalf("%q: %s: %v", words, v, err)
				}
			}
		}
	})
}

package params

import (
	"maps"
	"strings"
	"testing"
)

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

package toml

import (
	"fmt"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	var got []string
	for _, k := range Keys([]byte("a = 1\n\n[b.c]\nd.e = 'x'\n[[f]]\ng = [1, 'x']\n[[f]]\ng = {h = true, i = [{j = '''\n\n'''}]}\n[f.k]\nl = 2\n")) {
		got = append(got, fmt.Sprintf("%s:%d:%d%v", k.Name(), k.Line, k.Kind, k.Items))
	}
	want := "a:1:2[] b.c:3:5[] b.c.d.e:4:1[] f[0]:5:5[] f[0].g:6:4[2 1] f[1]:7:5[] f[1].g:8:5[] f[1].g.h:8:3[] f[1].g.i:8:4[5] f[1].g.i[0]:8:5[] f[1].g.i[0].j:8:1[] f[1].k:11:5[] f[1].k.l:12:2[]"
	if strings.Join(got, " ") != want {
		t.Errorf("got\n%s, want\n%s", strings.Join(got, " "), want)
	}
}

func TestReadNamesTheLine(t *testing.T) {
	var v struct{ A int }
	for text, want := range map[string]int{"a = 'x'": 1, "\n\na = ": 3, "\na=1\na=2": 3, "a = 1\n[[a]": 2, "b = 2": 0} {
		line := 0
		if err := Read([]byte(text), &v); err != nil {
			line = err.(*Error).Line
		}
		if line != want {
			t.Errorf("%q: line %d, want %d", text, line, want)
		}
	}
}

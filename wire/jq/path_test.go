package jq

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// A path in the text of a value can have names in any spelling, select the last of repeated members, and count elements from either end.
func TestPathIsFollowedInTheText(t *testing.T) {
	const in = `{"a":{"b":[1,{"c":1.50}]},"x":1,"\u0078":2,"\u0079":3,"x\\":4,"d":{"d":{"d":{"d":{"d":{"d":{"d":{"d":8}}}}}}},"n":null}`
	for src, want := range map[string]string{
		`.x`:                 `2`,
		`.y`:                 `3`,
		`.["x\\"]`:           `4`,
		`.z`:                 `null`,
		`.a.b[1].c`:          `1.50`,
		`.a.b[0]`:            `1`,
		`.a.b[2]`:            `null`,
		`.a.b[-1].c`:         `1.50`,
		`.a.b[-1].d`:         `null`,
		`.a.b[-2]`:           `1`,
		`.a.b[-3]`:           `null`,
		`.n.x.y`:             `null`,
		`.n[-1].x`:           `null`,
		`.d.d.d.d.d.d.d`:     `{"d":8}`,
		`.d.d.d.d.d.d.d.d`:   `8`,
		`.d.d.d.d.d.d.d.x`:   `null`,
		`.d.d.d.d.d.d.d.x.y`: `null`,
		`.d.d.d.d.d.d.d.d.d`: ``, // of a number: the program reports the error
		`.a[0]`:              ``,
		`.a.b.c`:             ``,
		`.a.b[-1].c.d`:       ``,
	} {
		p := compiled(t, src, Options{})
		got, ok := p.Path(json.RawMessage(in))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%s: got %s, %v; want %s", src, got, ok, want)
		}
	}
	odd := compiled(t, `.[-1].a`, Options{})
	for in, want := range map[string]string{
		`[{"a":1,"\u0062":2}]`:   `1`,
		`[{"a":1,"\u0061":2}]`:   `2`,
		"[{\"a\":1,\"\xff\":2}]": `1`,
		`[{"\u0061":2,"a":1}]`:   `1`,
	} {
		if got, ok := odd.Path(json.RawMessage(in)); string(got) != want || !ok {
			t.Errorf("%q: got %s, %v; want %s", in, got, ok, want)
		}
	}
}

func TestPaths(t *testing.T) {
	for src, want := range map[string]string{
		`.a`:             "/a",
		`.nosuch.deeper`: "/nosuch/deeper",
		`.a["x/y~z"][1]`: "/a/x~1y~0z/1",
		`.b, .a`:         "/b /a",
		`.b[] | .c`:      "/b/0/c /b/1/c",
		`(.. | .c? | select(. == 2)) # the second`: "/b/1/c",
		`empty`:                    "",
		`module {}; .b[0]   # one`: `/b/0`,
		`.`:                        "",
	} {
		p, err := CompilePaths(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		got, err := p.Of(t.Context(), json.RawMessage(`{"a":{"x/y~z":[1,2]},"b":[{"c":1},{"c":2}]}`))
		if err != nil || strings.Join(got, " ") != want || src == "." && !slices.Equal(got, []string{""}) {
			t.Errorf("%s: %q, %v, want %s", src, got, err, want)
		}
	}
}

func TestPathsFaults(t *testing.T) {
	for src, want := range map[string]string{
		`.a |`:   `jq: unexpected EOF`,
		`nosuch`: `jq: function not defined: nosuch/0 in: nosuch`,
		`.a + 1`: `jq: .a + 1 computes a value`,
		`{a}`:    `jq: {a} computes a value`,
	} {
		_, err := CompilePaths(src)
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || !strings.HasPrefix(f.Message, want) {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
	for src, want := range map[string]string{
		`.b[1:]`:      `jq: a path that contains {"end":null,"start":1} does not select one part`,
		`error("no")`: `jq: error: no`,
	} {
		p, err := CompilePaths(src)
		testkit.OK(t, err)
		got, err := p.Of(t.Context(), json.RawMessage(`{"a":"x","b":[1,2]}`))
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Helper || !strings.HasPrefix(f.Message, want) || len(got) > 0 {
			t.Errorf("%s: %q, %v, want %s", src, got, err, want)
		}
	}
}

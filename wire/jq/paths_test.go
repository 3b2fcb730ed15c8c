package jq

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rpcx/wire"
)

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
		`.b[1:]`:      `jq: a path with {"end":null,"start":1} in it does not select one part`,
		`error("no")`: `jq: error: no`,
	} {
		p, err := CompilePaths(src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Of(t.Context(), json.RawMessage(`{"a":"x","b":[1,2]}`))
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Helper || !strings.HasPrefix(f.Message, want) || len(got) > 0 {
			t.Errorf("%s: %q, %v, want %s", src, got, err, want)
		}
	}
}

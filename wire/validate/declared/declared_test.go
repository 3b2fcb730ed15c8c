package declared_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rpcx/wire/catalog"
	"rpcx/wire/testkit"
	"rpcx/wire/validate/declared"
)

const doc = `{"catalog": 1, "methods": [
  {"name": "good", "params": {"type": "object", "properties": {"id": {"type": "string", "examples": ["a"], "default": "b"}}}, "result": {"type": "integer"}},
  {"name": "broken", "result": {"type": "nothing"}},
  {"name": "lost", "result": {"$ref": "#/$defs/Gone"}},
  {"name": "bad", "params": {"type": "object", "properties": {
     "example": {"type": "integer", "examples": [1, "x"], "default": null},
     "deep": {"anyOf": [{"type": "array", "default": 5, "items": {"$ref": "#/$defs/Id"}}]}}}},
  {"name": "openrpc", "params": {"type": "object", "required": ["id"]}, "result": {"type": "string"},
   "extra": {"examples": [{"params": [{"name": "id", "value": 1}], "result": {"value": 7}}, {"params": []}]}},
  {"name": "watch", "kind": "stream", "events": {"a/b": {"type": "string"}}}],
 "$defs": {"Id": {"type": "string", "example": 5}}}`

func checker(t *testing.T) *declared.Checker {
	t.Helper()
	c, err := catalog.Parse([]byte(doc))
	testkit.OK(t, err)
	k, err := declared.New(t.Context(), c)
	testkit.OK(t, err)
	return k
}

func expect(t *testing.T, k *declared.Checker, want ...string) {
	t.Helper()
	var got []string
	for _, f := range k.Found() {
		got = append(got, fmt.Sprint(f.Rule, " ", f.Method, " ", f.Pointer))
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestCatalogOfAServer(t *testing.T) {
	k := checker(t)
	expect(t, k, "schema-compiles broken /methods/1/result", "schema-complete lost /methods/2/result")
	if n := k.Examples(context.Background()); n != 10 {
		t.Errorf("%d examples", n)
	}
	expect(t, k,
		"default-fits bad /methods/3/params/properties/example/default",
		"example-fits bad /methods/3/params/properties/example/examples/1",
		"default-fits bad /methods/3/params/properties/deep/anyOf/0/default",
		"example-fits openrpc /methods/4/extra/examples/0/result/value",
		"example-fits openrpc /methods/4/extra/examples/1/params",
		"example-fits  /$defs/Id/example")
}

func TestResults(t *testing.T) {
	k := checker(t)
	k.Found()
	for _, c := range []struct {
		method, content, value string
		said                   bool
		want                   []string
	}{
		{"good", "", "1", true, nil},
		{"good", "", `"x"`, true, []string{"result-fits good "}},
		{"watch", "a/b", "1", true, []string{"result-fits watch "}},
		{"watch", "c/d", "1", false, nil},
		{"bad", "", "1", false, nil},
		{"broken", "", "1", false, nil},
		{"unknown", "", "1", false, nil},
	} {
		if said := k.Result(context.Background(), c.method, c.content, []byte(c.value)); said != c.said {
			t.Errorf("%s %s: %v", c.method, c.content, said)
		}
		expect(t, k, c.want...)
	}
}

// A schema is compiled together with the schemas to which it refers. The compile time does not depend on the size of the catalog,
// and compilation stops when the context ends.
func TestReferencesOfALargeCatalog(t *testing.T) {
	testkit.RaceSkips(t)
	var b strings.Builder
	b.WriteString(`{"catalog": 1, "methods": [
{"name": "other", "params": {"$ref": "#/methods/1/result"}, "result": {"$ref": "#/$defs/A~1b/properties/x"}},
{"name": "own", "params": {"type": "object", "properties": {"x": {"$ref": "#/properties/y"}, "y": {"type": "integer", "default": "z"}}}, "result": {"type": "string"}}`)
	for i := range 3_000 {
		fmt.Fprintf(&b, `,{"name": "m%d", "params": {"type": "object", "properties": {"a": {"$ref": "#/$defs/D%d"}}}}`, i, i)
	}
	b.WriteString(`], "$defs": {"A/b": {"properties": {"x": {"$ref": "#/$defs/C"}}}, "C": {"type": "string", "default": 1}`)
	for i := range 3_000 {
		fmt.Fprintf(&b, `,"D%d": {"type": "object", "description": "%s"}`, i, strings.Repeat("x", 300))
	}
	c, err := catalog.Parse([]byte(b.String() + "}}"))
	testkit.OK(t, err)
	k, err := declared.New(t.Context(), c)
	testkit.OK(t, err)
	k.Examples(t.Context())
	expect(t, k, "default-fits own /methods/1/params/properties/y/default", "default-fits  /$defs/C/default")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := declared.New(ended, c); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

package bridge

import (
	"encoding/json"
	"testing"

	"rpcx/wire/catalog"
)

// The target and the parent of a request stand beside its params; for clients they are among them.
func TestWithFields(t *testing.T) {
	for _, c := range []struct{ params, hints, want string }{
		{`{"type":"object"}`, "", `{"type":"object"}`},
		{`{"type":"array"}`, `{"target":true}`, `{"type":"array"}`},
		{``, `{"target":true}`, `{"type":"object","properties":{"target":{"type":["string","integer"]}},"required":["target"]}`},
		{``, `{"parent":true,"target":true}`, `{"type":"object","properties":{"target":{"type":["string","integer"]},"parent":{"type":["string","integer"]}},"required":["target","parent"]}`},
		{``, `{}`, `{"type":"object","properties":{},"required":[]}`},
		{
			`{"type":"object","properties":{"a":{},"target":{"type":"integer"}},"required":["a"],"title":"T"}`, `{"target":true}`,
			`{"type":"object","properties":{"a":{},"target":{"type":"integer"}},"required":["a","target"],"title":"T"}`,
		},
	} {
		m := catalog.Method{Params: json.RawMessage(c.params)}
		if c.hints != "" {
			m.Hints = json.RawMessage(c.hints)
		}
		if got := string(withFields(m)); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.params, c.hints, got, c.want)
		}
	}
	for _, c := range []struct{ request, params, want string }{
		{`{}`, `{"a":1}`, `{"a":1}`},
		{`{"target":"t"}`, `{"a":1}`, `{"a":1,"target":"t"}`},
		{`{"target":"t","parent":2}`, ``, `{"target":"t","parent":2}`},
		{`{"parent":2}`, `[1]`, `[1]`},
		{`{"target":"t"}`, `{"target":"mine"}`, `{"target":"mine","target":"t"}`},
	} {
		var params json.RawMessage
		if c.params != "" {
			params = json.RawMessage(c.params)
		}
		if got := string(withTarget(json.RawMessage(c.request), params)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.request, c.params, got, c.want)
		}
	}
	for schema, want := range map[string]bool{"": true, `{}`: true, `{"type":"object"}`: true, `{"type":"array"}`: false, `{"type":["object","array"]}`: true} {
		if isObject(json.RawMessage(schema)) != want {
			t.Errorf("%s: %v", schema, !want)
		}
	}
}

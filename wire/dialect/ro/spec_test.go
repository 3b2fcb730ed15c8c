package ro

import (
	"encoding/json"
	"testing"

	"rpcx/wire/catalog"
)

// The table of methods splits names in resource and verb, and shows a method as
// a user types it, with the target and parent of its hints.
func TestNamesForPeople(t *testing.T) {
	for _, c := range []struct{ name, hints, resource, verb, typed string }{
		{"repo.get", ``, "repo", "get", "repo:get"},
		{"repo.get", `{"target":"r_1"}`, "repo", "get", "repo/r_1:get"},
		{"repo.issue.get", `{"target":7,"parent":"r_1"}`, "repo.issue", "get", "repo/r_1/issue/7:get"},
		{"repo.issue.list", ``, "repo.issue", "list", "repo//issue:list"},
		{"repo.get", `{"target":"a b"}`, "repo", "get", "repo:get"},
		{"rpc.describe", ``, "rpc.describe", "", "rpc.describe"},
		{"plain", ``, "plain", "", "plain"},
		{"a.b.c.d", ``, "a.b.c.d", "", "a.b.c.d"},
	} {
		m := &catalog.Method{Name: c.name, Hints: json.RawMessage(c.hints)}
		if resource, verb := resourceAndVerb(m); resource != c.resource || verb != c.verb {
			t.Errorf("%s: resource %q and verb %q, want %q and %q", c.name, resource, verb, c.resource, c.verb)
		}
		if typed := typedForm(m); typed != c.typed {
			t.Errorf("%s with %s is typed %q, want %q", c.name, c.hints, typed, c.typed)
		}
	}
}

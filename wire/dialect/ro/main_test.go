package ro

import (
	"encoding/json"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shown returns the decoded message as a line, without the place that stands for its stream.
func shown(m wire.Message) string {
	m.Stream = nil
	return testkit.Message(m)
}

// The table of methods splits names into resource and verb, and shows a method as a user types it, with the target and parent from
// its hints.
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

// A response can be stored for this long.
func TestMaxAge(t *testing.T) {
	for raw, want := range map[string]time.Duration{
		`{}`: 0, `{"cache":7}`: 0, `{"cache":{}}`: 0, `{"cache":{"max-age":"5"}}`: 0, `{"cache":{"max-age":0}}`: 0, `{"cache":{"max-age":-1}}`: 0,
		`{"cache":{"max-age":5}}`: 5 * time.Second, `{"cache":{"max-age":0.5}}`: 500 * time.Millisecond,
		`{"cache":{"max-age":31536000}}`: longest, `{"cache":{"max-age":31535999}}`: longest - time.Second, `{"cache":{"max-age":31536001}}`: longest, `{"cache":{"max-age":1e300}}`: longest,
	} {
		if got := MaxAge([]byte(raw)); got != want {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
}

// A stored response depends on these members.
func TestCacheKey(t *testing.T) {
	for _, c := range []struct{ method, params, extra, want string }{
		{"file/a:read", `{"x": 1}`, "", `{"method":"file.read","resource":"file","target":"a","verb":"read","params":{"x": 1}}`},
		{"file/a:read", "", `{"cache":"no-store"}`, `{"method":"file.read","resource":"file","target":"a","verb":"read"}`},
		{"repo/r/issue/7:get", "", "", `{"method":"repo.issue.get","resource":"repo","parent":"r","subresource":"issue","target":"7","verb":"get"}`},
		{"plain", "[1]", "", `{"method":"plain","params":[1]}`},
		{"file:yield", "", "", "RO-JRPC: the verb yield is reserved for async results, from server to client"},
	} {
		op := dialect.Op{Kind: dialect.Call, Method: c.method}
		if c.params != "" {
			op.Params = json.RawMessage(c.params)
		}
		if c.extra != "" {
			op.Extra = json.RawMessage(c.extra)
		}
		key, err := CacheKey(op)
		got := string(key)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.method, got, c.want)
		}
	}
}

package ro

import (
	"encoding/json"
	"testing"
	"time"

	"rpcx/wire/dialect"
)

// For how long an answer may be kept.
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

// What an answer depends on.
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

package ro

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Each typed method becomes a request, or a rule rejects it.
func TestEncode(t *testing.T) {
	tests := []struct{ typed, extra, want string }{
		{"user/42:get", ``, `{"jsonrpc":"2.0","id":1,"method":"user.get","resource":"user","target":"42","verb":"get"}`},
		{"user:create", ``, `{"jsonrpc":"2.0","id":1,"method":"user.create","resource":"user","verb":"create"}`},
		{"repo/99/issue/7:get", ``, `{"jsonrpc":"2.0","id":1,"method":"repo.issue.get","resource":"repo","parent":"99","subresource":"issue","target":"7","verb":"get"}`},
		{"repo/99/issue:list", ``, `{"jsonrpc":"2.0","id":1,"method":"repo.issue.list","resource":"repo","parent":"99","subresource":"issue","verb":"list"}`},
		{"repo//issue/7:get", ``, `{"jsonrpc":"2.0","id":1,"method":"repo.issue.get","resource":"repo","subresource":"issue","target":"7","verb":"get"}`},
		{"file/%2Fetc%2Fhosts:read", ``, `{"jsonrpc":"2.0","id":1,"method":"file.read","resource":"file","target":"/etc/hosts","verb":"read"}`},
		{"file/report.pdf:read", ``, `{"jsonrpc":"2.0","id":1,"method":"file.read","resource":"file","target":"report.pdf","verb":"read"}`},
		{"urn/isbn:1:get", ``, `{"jsonrpc":"2.0","id":1,"method":"urn.get","resource":"urn","target":"isbn:1","verb":"get"}`},
		{"user/:get", ``, `{"jsonrpc":"2.0","id":1,"method":"user.get","resource":"user","verb":"get"}`},
		{"user.get", ``, `{"jsonrpc":"2.0","id":1,"method":"user.get","resource":"user","verb":"get"}`},
		{"repo.issue.get", ``, `{"jsonrpc":"2.0","id":1,"method":"repo.issue.get","resource":"repo","subresource":"issue","verb":"get"}`},
		{"rpc.describe", ``, `{"jsonrpc":"2.0","id":1,"method":"rpc.describe"}`},
		{"ping", ``, `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		{"a.b.c.d", ``, `{"jsonrpc":"2.0","id":1,"method":"a.b.c.d"}`},
		{"a..b", ``, `{"jsonrpc":"2.0","id":1,"method":"a..b"}`},

		{"user.get", `{"target":42}`, `{"jsonrpc":"2.0","id":1,"method":"user.get","resource":"user","target":42,"verb":"get"}`},
		{"repo.issue.get", `{"target":"7","parent":99}`, `{"jsonrpc":"2.0","id":1,"method":"repo.issue.get","resource":"repo","parent":99,"subresource":"issue","target":"7","verb":"get"}`},
		{"user.get", `{"resource":"user","verb":"get","cache":"no-cache"}`, `{"jsonrpc":"2.0","id":1,"method":"user.get","resource":"user","verb":"get","cache":"no-cache"}`},
		{"user:create", `{"plain":true}`, `{"jsonrpc":"2.0","id":1,"method":"user.create"}`},

		{"repo.issue:get", ``, `"repo.issue": a resource, subresource or verb cannot contain a dot`},
		{"user:get.all", ``, `"get.all": a resource, subresource or verb cannot contain a dot`},
		{"a/b/c/d/e:x", ``, `"a/b/c/d/e:x" has more than resource/parent/subresource/target before the colon`},
		{"repo/99//7:get", ``, `"repo/99//7:get" has no subresource between its slashes`},
		{":get", ``, `":get" has no resource before the colon`},
		{"user:", ``, `"user:" has no verb after the colon`},
		{"user/%zz:get", ``, `"%zz" is not a percent-encoded path: invalid URL escape "%zz"`},
		{"user.get", `{"resource":"task"}`, `RO-JRPC: method must equal "task.get", which its fields define, not "user.get"`},
		{"ping", `{"resource":"user"}`, `RO-JRPC: resource and verb must appear together`},
		{"ping", `{"verb":"get"}`, `RO-JRPC: resource and verb must appear together`},
		{"ping", `{"subresource":"issue"}`, `RO-JRPC: subresource must not appear without resource`},
		{"ping", `{"parent":"1"}`, `RO-JRPC: parent must not appear without resource`},
		{"user.get", `{"parent":"1"}`, `RO-JRPC: parent must not appear without subresource`},
		{"ping", `{"target":"1"}`, `RO-JRPC: target needs a resource and a verb, but "ping" is neither PATH:VERB nor a dotted name`},
		{"user.get", `{"target":[1]}`, `a target must be a string or a number, not [1]`},
		{"user/42:get", `{"target":"43"}`, `user/42:get has the target "42", but --set target has another one`},
		{"user/42:get", `{"plain":true}`, `a plain request cannot have a target, a parent or meta: give them as params, or remove plain`},
		{"job:yield", ``, `RO-JRPC: the verb yield is reserved for async results, from server to client`},
		{"job.return", ``, `RO-JRPC: the verb return is reserved for async results, from server to client`},
	}
	for _, tt := range tests {
		op := dialect.Op{Kind: dialect.Call, Method: tt.typed}
		if tt.extra != "" {
			op.Extra = json.RawMessage(tt.extra)
		}
		m, err := NewCodec(dialect.CodecOptions{}).Encode(op)
		got := string(m.Raw)
		if err != nil {
			if got = err.Error(); wire.AsFault(err) == nil || wire.AsFault(err).Kind != wire.Usage {
				t.Errorf("%s %s: %v is not a usage fault", tt.typed, tt.extra, err)
			}
		}
		if got != tt.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tt.typed, tt.extra, got, tt.want)
		}
	}
}

// rpcx corrects a dotted name before the colon if possible.
func TestRespelt(t *testing.T) {
	for typed, want := range map[string]string{
		"repo.issue:get":     "did you mean repo//issue:get?",
		"repo.issue/7:get":   "did you mean repo//issue/7:get?",
		"repo:issue.get":     "did you mean repo//issue:get?",
		"a.b.c:get":          "",
		"a/1/b.c:get":        "",
		".issue:get":         "",
		"repo.:get":          "",
		"repo.issue/7/8:get": "",
	} {
		_, err := Parse(typed)
		if f := wire.AsFault(err); f == nil || f.Hint != want {
			t.Errorf("%s: %v, want the hint %q", typed, err, want)
		}
	}
}

// Each field except cache needs a request.
func TestFieldsNeedARequest(t *testing.T) {
	for given, want := range map[string]bool{
		`{}`: false, `{"cache":"no-store"}`: false, `{"resource":"a"}`: true, `{"verb":"a"}`: true, `{"subresource":"a"}`: true,
		`{"target":"a"}`: true, `{"parent":"a"}`: true, `{"meta":{}}`: true, `{"plain":true}`: true,
	} {
		var g Given
		if err := json.Unmarshal([]byte(given), &g); err != nil || g.asks() != want {
			t.Errorf("%s: %t, %v", given, g.asks(), err)
		}
	}
}

// Hooks and policies use these forms of a method.
func TestName(t *testing.T) {
	for method, want := range map[string]string{
		"user.get": "user:get", "repo.issue.get": "repo.issue:get", "user:get": "user:get", "*": "*",
		"user.*": "user:*", "*.delete": "*:delete", "rpc.describe": "rpc:describe", "ping": "ping", "a.b.c.d": "a.b.c.d",
	} {
		if got := Name(method); got != want {
			t.Errorf("%s is %s, want %s", method, got, want)
		}
	}
}

// A request's members form an address, or violate a rule.
func TestAddressOfARequest(t *testing.T) {
	for _, c := range []struct {
		raw, rule string
		want      Address
	}{
		{`{"method":"user.get"}`, "", Address{Method: "user.get", Resource: "user", Verb: "get"}},
		{`{"method":"user.get","target":"7"}`, "", Address{Method: "user.get", Resource: "user", Verb: "get", Target: json.RawMessage(`"7"`)}},
		{`{"method":"ping","target":7}`, "", Address{Method: "ping", Target: json.RawMessage(`7`)}},
		{`{"method":"user.get","resource":"user","verb":"get","target":"7"}`, "", Address{Method: "user.get", Resource: "user", Verb: "get", Target: json.RawMessage(`"7"`)}},
		{`{"method":"user.get","resource":"","verb":"get"}`, "resource must be a non-empty string", Address{}},
		{`{"method":"user.get","resource":"user","verb":1}`, "verb must be a non-empty string", Address{}},
		{`{"method":"user.get","target":{}}`, "target must be a string or a number", Address{}},
		{`{"method":"user.get","resource":"user"}`, "resource and verb must appear together", Address{}},
		{`{"method":"user.get","parent":1}`, "parent must not appear without resource", Address{}},
		{`{"method":"user.get","subresource":"a"}`, "subresource must not appear without resource", Address{}},
		{`{"method":"user.get","resource":"user","verb":"get","parent":1}`, "parent must not appear without subresource", Address{}},
		{`{"method":"user.put","resource":"user","verb":"get"}`, `method must equal "user.get", which its fields define, not "user.put"`, Address{}},
	} {
		f := readFields([]byte(c.raw))
		method, _ := scan.Text(f[fieldMethod])
		got, rule := f.address(method)
		if rule != c.rule || rule == "" && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %q, want %+v, %q", c.raw, got, rule, c.want, c.rule)
		}
	}
}

// Members of a request that should be objects are rejected, not ignored.
func TestFieldsThatAreNone(t *testing.T) {
	for _, extra := range []string{`5`, `{"target":`, `[]`, `{"plain":"yes"}`} {
		_, err := (&codec{}).Encode(dialect.Op{Kind: dialect.Call, Method: "user.get", Extra: json.RawMessage(extra)})
		if err == nil || !strings.HasPrefix(err.Error(), `the fields beside "user.get": `) {
			t.Errorf("%s: %v", extra, err)
		}
	}
}

package modern

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A property that is sent as a header has a fixed place, one of three types and a unique name.
func TestHeadersOf(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object"}`, ""},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":["integer","null"],"x-mcp-header":"C"}}}}}`, "A=a C=b.c"},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"09AZaz"}}}`, "09AZaz=a"},
		{`{"properties":{"x-mcp-header":{"type":"string","default":{"x-mcp-header":1}}}}`, ""},
		{`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, `"\"\"" is not the name of a header`},
		{`{"properties":{"a":{"type":"string","x-mcp-header":7}}}`, `"7" is not the name of a header`},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"a:b"}}}`, `"a:b" is not the name of a header`},
		{`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, `the header "A" belongs to a property that is not a string, an integer or a boolean`},
		{`{"properties":{"a":{"x-mcp-header":"A"},"b":{}}}`, `the header "A" belongs to a property that is not a string, an integer or a boolean`},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, `the header "a" belongs to two properties`},
		{`{"x-mcp-header":"A","type":"string"}`, `the header "A" belongs to a property that is not always in the same place`},
		{`{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}`, `the header "A" belongs to a property that is not always in the same place`},
		{`{"properties":{"a":{"anyOf":[{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}]}}}`, `the header "A" belongs to a property that is not always in the same place`},
		{`{"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}`, `the header "A" belongs to a property that is not always in the same place`},
	} {
		headers, err := Headers(json.RawMessage(c.schema))
		var got []string
		for _, h := range headers {
			got = append(got, strings.TrimPrefix(h.Name, headerParam)+"="+strings.Join(h.path, "."))
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.schema, text, c.want)
		}
	}
}

// The headers of a POST repeat its message. Messages of versions with a handshake are left to the rules of sessions.
func TestCheckPost(t *testing.T) {
	meta := func(version string) string {
		return `"_meta":{"` + MetaVersion + `":"` + version + `","` + MetaCapabilities + `":{}}`
	}
	for _, c := range []struct {
		version, method, msg string
		own                  bool
		want                 string
	}{
		{Version, "", `{`, true, "the body is not JSON"},
		{"2025-11-25", "", `{`, false, "the body is not JSON"},
		{"2025-11-25", "", `{"id":1,"method":"ping"}`, false, ""},
		{Version, "", `{"id":1,"method":"initialize"}`, false, ""},
		{Version, "", `[]`, true, "the body must be one request or notification"},
		{Version, "", `{"id":1,"result":1}`, true, "the body is neither a request nor a notification"},
		{Version, "", `{"method":"x"}`, true, ""},
		{"", "", `{"id":1,"method":"server/discover"}`, true, "Header mismatch: the header MCP-Protocol-Version is missing"},
		{Version, "x", `{"id":1,"method":"x","params":{` + meta("2025-11-25") + `}}`, true, `Header mismatch: MCP-Protocol-Version "2026-07-28" does not match the body's "2025-11-25"`},
		{Version, "x", `{"id":1,"method":"x"}`, true, "_meta lacks " + MetaVersion},
		{Version, "y", `{"id":1,"method":"x","params":{` + meta(Version) + `}}`, true, `Header mismatch: Mcp-Method "y" does not match the method "x"`},
		{Version, "x", `{"id":1,"method":"x","params":{` + meta(Version) + `}}`, true, ""},
		{Version, "tasks/get", `{"id":1,"method":"tasks/get","params":{"taskId":"t",` + meta(Version) + `}}`, true, "Header mismatch: the header Mcp-Name is missing"},
	} {
		own, err := (&Server{}).checkPost(http.Header{headerVersion: {c.version}, headerMethod: {c.method}}, []byte(c.msg))
		got := ""
		if err != nil {
			got = err.Message
		}
		if own != c.own || got != c.want {
			t.Errorf("%s: %v, %q", c.msg, own, got)
		}
	}
}

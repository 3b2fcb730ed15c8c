package modern

import (
	"encoding/json"
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
		{`{"properties":{"a":{"x-mcp-header":"A"}}}`, `the header "A" belongs to a property that is not a string, an integer or a boolean`},
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

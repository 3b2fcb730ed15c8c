package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// ECMA-262 patterns that Go does not support are checked. A pattern that is invalid or takes too long is skipped, which All reports.
func TestPatternsThatGoCannotExpress(t *testing.T) {
	slow := strings.Repeat("a", 60) + "!"
	for _, c := range []struct{ pattern, fits, not, open string }{
		{"^(?!foo)", "bar", "foobar", ""},
		{"(?<=a)b", "ab", "b", ""},
		{`^(a|b)\1$`, "aa", "ab", ""},
		{`^(?=\d)\S+$`, "1a", "٣a", ""}, // \d and \S match ASCII only
		{`^(?=.)\p{L}+$`, "aπ", "a1", ""},
		{`^(?=.)\u{1F600}$`, "😀", "x", ""},
		{`^(?=.).$`, "😀", "ab", ""},
		{`^(?!x)a$`, "a", "a\n", ""},
		{"^(?=a)(a+)+$", "aa", "", slow},
		{"^(?&x)", "", "", "a"},
	} {
		text, _ := json.Marshal(map[string]string{"pattern": c.pattern})
		s, err := Open(fstest.MapFS{"s": {Data: text}}, "s", "", FileOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		look := func(value string) (bool, string) {
			b, _ := json.Marshal(value)
			found, open, err := s.All(t.Context(), b)
			if err != nil {
				t.Error(err)
			}
			return len(found) == 0, open
		}
		if ok, open := look(c.fits); c.fits != "" && (!ok || open != "") {
			t.Errorf("%s does not match %q (%s)", c.pattern, c.fits, open)
		}
		if ok, _ := look(c.not); c.not != "" && ok {
			t.Errorf("%s matches %q", c.pattern, c.not)
		}
		started := time.Now()
		if ok, open := look(c.open); c.open != "" && (!ok || open == "") {
			t.Errorf("%s and %q: %v, %q", c.pattern, c.open, ok, open)
		}
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("%s takes %v", c.pattern, took)
		}
	}
}

// Matching a peer's pattern takes bounded time and memory.
func TestHostilePatterns(t *testing.T) {
	for _, pattern := range []string{
		"(?=" + strings.Repeat("(", 5_000) + strings.Repeat(")", 5_000) + ")",
		"(?!x)((a{1000}){1000}){1000}", "(?=a)" + strings.Repeat("a{0,999}", 2_000), "(?=x)" + strings.Repeat("[^a]*", 20_000) + "b",
		`(?=x)` + strings.Repeat(`(a*)*\1`, 500), "(?=" + strings.Repeat("x", 1<<20) + ")",
	} {
		started := time.Now()
		text, _ := json.Marshal(map[string]string{"pattern": pattern})
		if s, err := Compile(text, "", Options{}); err == nil {
			b, _ := json.Marshal(strings.Repeat("a", 5_000) + strings.Repeat("x", 5_000))
			_ = s.Check(t.Context(), b)
		}
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("%.60s takes %v", pattern, took)
		}
	}
}

// A schema can allow members that it does not describe.
func TestUndescribed(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"properties":{"name":{},"size":{}}}`, `{"name":1}`, ""},
		{`{"properties":{"name":{},"size":{}}}`, `{"nmae":1}`, "/nmae nmae name"},
		{`{"properties":{"name":{},"size":{}}}`, `{"nmae":1,"name":2}`, "/nmae nmae "},
		{`{"properties":{"name":{},"size":{}}}`, `{"zzz":1}`, "/zzz zzz "},
		{`{}`, `{"a":1}`, ""},
		{`true`, `{"a":1}`, ""},
		{`{"properties":{}}`, `{"a":1}`, ""},
		{`{"properties":{"a":{}},"additionalProperties":{"type":"integer"}}`, `{"b":1}`, ""},
		{`{"properties":{"a":{}},"additionalProperties":true}`, `{"b":1}`, "/b b "},
		{`{"properties":{"a":{}},"patternProperties":{"^x":{}}}`, `{"xa":1,"b":2}`, "/b b "},
		{`{"properties":{"a":{}},"patternProperties":{"^(?&x)":{}}}`, `{"b":2}`, ""},
		{`{"properties":{"a":{}},"dependentSchemas":{"a":{}}}`, `{"b":1}`, ""},
		{`{"properties":{"a":{}},"dependencies":{"a":["c"]}}`, `{"b":1}`, ""},
		{`{"properties":{"a":{}},"unevaluatedProperties":{}}`, `{"b":1}`, ""},
		{`{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `{"a":1,"b":1,"c":1}`, "/c c "},
		{`{"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `{"a":1,"b":1,"c":1}`, "/c c "},
		{`{"oneOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`, `{"a":1,"c":1}`, "/c c "},
		{`{"if":{"properties":{"a":{}}},"then":{"properties":{"b":{}}},"else":{"properties":{"d":{}}}}`, `{"a":1,"b":1,"c":1,"d":1}`, "/c c "},
		{`{"properties":{"a":{"properties":{"x":{}}}}}`, `{"a":{"x":1,"y":2},"b":{"y":1}}`, "/a/y y ; /b b "},
		{`{"properties":{"a":{"items":{"properties":{"x":{}}}}}}`, `{"a":[{"x":1},{"y":2}]}`, "/a/1/y y "},
		{`{"prefixItems":[{"properties":{"x":{}}}],"items":{"properties":{"y":{}}}}`, `[{"y":1},{"x":1}]`, "/0/y y "},
		{`{"items":[{"properties":{"x":{}}}]}`, `[{"y":1},{"z":1}]`, "/0/y y "},
		{`{"$ref":"#/$defs/d","$defs":{"d":{"properties":{"x":{}}}}}`, `{"y":1}`, "/y y "},
		{`{"properties":{"x":{}},"$ref":"#/$defs/none"}`, `{"y":1}`, ""},
		{`{"properties":{"a~/b":{"properties":{"x":{}}}}}`, `{"a~/b":{"y":1}}`, "/a~0~1b/y y "},
		{`{"properties":{"":{"properties":{"limit":{}}}}}`, `{"":{"limti":1}}`, "//limti limti limit"},
		{`{"properties":{"a":{}},"patternProperties":{"^$|^x":{}}}`, `{"":1}`, ""},
		{`{"properties":{"a":{}}}`, ``, ""},
		{`{"properties":{"a":{}}}`, `7`, ""},
		{`{"properties":{"a":{}}}`, `{"b":1e9999999}`, ""},
		{`{"properties":{"a":{}}}`, `{`, ""},
	} {
		s, err := Compile(json.RawMessage(c.schema), "", Options{Warn: func(string) {}})
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		var got []string
		for _, u := range s.Undescribed(json.RawMessage(c.value)) {
			got = append(got, fmt.Sprintf("%s %s %s", u.Pointer, u.Name, u.Nearest))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s %s:\n got %q\nwant %q", c.schema, c.value, text, c.want)
		}
	}
	many := map[string]int{}
	for i := range maxUndescribed + 3 {
		many[fmt.Sprint("n", i)] = i
	}
	b, _ := json.Marshal(map[string]any{"a": many, "b": []any{many}})
	s := compile(t, `{"properties":{"a":{"properties":{"x":{}}},"b":{"items":{"properties":{"x":{}}}}}}`, "")
	if got := s.Undescribed(b); len(got) != maxUndescribed {
		t.Errorf("%d names are returned", len(got))
	}
	for _, outer := range []string{`{"allOf":[%s]}`, `{"anyOf":[%s]}`, `{"oneOf":[%s]}`, `{"if":false,"else":%s}`} {
		deep := `{"properties":{"a":{}}}`
		for range maxDepth {
			deep = fmt.Sprintf(outer, deep)
		}
		for schema, want := range map[string]int{deep: 1, fmt.Sprintf(outer, deep): 0} {
			if got := compile(t, schema, "").Undescribed(json.RawMessage(`{"b":1}`)); len(got) != want {
				t.Errorf("%s with %d bytes: %v", outer, len(schema), got)
			}
		}
	}
}

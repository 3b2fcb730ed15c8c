package schema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"rpcx/wire/testkit"
)

func compile(t testing.TB, doc, pointer string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(doc), pointer, Options{Warn: func(w string) { t.Errorf("warning: %s", w) }})
	testkit.OK(t, err)
	return s
}

const order = `{"type":"object","additionalProperties":false,"required":["id"],"properties":{
	"id":{"type":"string","pattern":"^o_[0-9]{3}$","examples":["o_001"]},
	"status":{"enum":["open","paid","shipped"]},
	"limit":{"type":"integer","minimum":1,"maximum":9007199254740993},
	"price":{"type":"number","exclusiveMinimum":0,"multipleOf":0.01},
	"when":{"type":["integer","null"]},
	"mode":{"const":"fast"},
	"tags":{"type":"array","items":{"type":"string"},"maxItems":2,"uniqueItems":true},
	"pay":{"oneOf":[
		{"type":"object","required":["by","iban"],"properties":{"by":{"const":"bank"},"iban":{"type":"string"}}},
		{"type":"object","required":["by","number"],"properties":{"by":{"const":"card"},"number":{"type":"integer"}}}]},
	"size":{"anyOf":[{"type":"integer"},{"type":"boolean"}]},
	"one":{"oneOf":[{"type":"string"},{"minimum":1},{"maximum":9}]}}}`

func TestCheck(t *testing.T) {
	s := compile(t, order, "")
	for _, c := range []struct{ value, want string }{
		{`{"id":"o_001"}`, ``},
		{`{"id":"o_001","limit":9007199254740993}`, ``},
		{`{"id":"o_001","limit":9007199254740994}`, `/limit: 9007199254740994 is greater than 9007199254740993`},
		{`{"id":"o_001","limit":0}`, `/limit: 0 is less than 1`},
		{`{"id":"o_001","price":0.005}`, `/price: 0.005 is not a multiple of 0.01`},
		{`{"id":"o_001","limit":"5"}`, `/limit: got string, want integer`},
		{`{"id":"x"}`, `/id: "x" does not match the pattern ^o_[0-9]{3}$`},
		{`{}`, `lacks "id"`},
		{`{"idd":"o_001"}`, `has no property "idd"; did you mean id?`},
		{`{"id":"o_001","zzz":1}`, `has no property "zzz" (it has id, status, limit, price, when, mode, tags, pay, …)`},
		{`{"id":"o_001","status":"shiped"}`, `/status: "shiped" is not one of "open", "paid", "shipped"; did you mean shipped?`},
		{`{"id":"o_001","mode":"slow"}`, `/mode: "slow" is not "fast"; did you mean fast?`},
		{`{"id":"o_001","tags":["a","b","c"]}`, `/tags: has 3 elements, but can have at most 2`},
		{`{"id":"o_001","tags":["a","a"]}`, `/tags: has the same element twice, at 0 and 1`},
		{`{"id":"o_001","tags":["a",1]}`, `/tags/1: got number, want string`},
		{`{"id":"o_001","pay":{"by":"card","number":"4"}}`, `/pay/number: got string, want integer`},
		{`{"id":"o_001","pay":{"by":"crad","number":4}}`, `/pay/by: "crad" is not one of "bank", "card"; did you mean card?`},
		{`{"id":"o_001","size":"big"}`, `/size: got string, want integer or boolean`},
		{`{"id":"o_001","one":5}`, `/one: matches several alternatives (2 and 3), but may match only one`},
		{`[1]`, `got array, want object`},
		{`nonsense`, `is not JSON: expected true, false or null at byte 1`},
		{`{"id":"o_001","price":1e9999999}`, `contains a number that is too large to check`},
		{`{"id":"o_001","zzz":1` + strings.Repeat("0", 5000) + `}`, `contains a number that is too large to check`},
		{`{"id":"1e9999999 \" 1e9999999"}`, `/id: "1e9999999 \" 1e9999999" does not match the pattern ^o_[0-9]{3}$`},
		{`{"id":"o_001","limit":1e0000000003}`, ``},
		{`{"id":"o_001","mode":"` + strings.Repeat("x", 1000) + `"}`, `/mode: "` + strings.Repeat("x", 199) + `… is not "fast"; did you mean fast?`},
	} {
		got := ""
		if err := s.Check(t.Context(), json.RawMessage(c.value)); err != nil {
			var m *Mismatch
			if !errors.As(err, &m) || m.Rule == "" {
				t.Errorf("%s: %#v is not a Mismatch with a rule", c.value, err)
			}
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.value, got, c.want)
		}
	}
}

// A number with few characters can be expensive to compute with.
func TestHugeNumbersTakeNoTime(t *testing.T) {
	s := compile(t, `{"type":"array","items":{"type":"integer"}}`, "")
	start := time.Now()
	for _, e := range []string{"1e999999", "1E-99999", "-1.5e+00099999"} {
		if err := s.Check(t.Context(), json.RawMessage("[1"+strings.Repeat(","+e, 10_000)+"]")); err == nil {
			t.Error(e, "fits")
		}
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Error("the checks took", d)
	}
}

func TestMismatchNamesWhatWouldDo(t *testing.T) {
	s := compile(t, order, "")
	for _, c := range []struct{ value, pointer, rule, property, do string }{
		{`{}`, "", "required", "id", `"o_001"`},
		{`{"id":"o_001","status":"opne"}`, "/status", "enum", "", `"open"`},
		{`{"id":"o_001","status":"unlike any"}`, "/status", "enum", "", ``},
		{`{"id":"o_001","limti":1,"statsu":"x"}`, "", "additionalProperties", "limti", ``},
		{`{"id":"o_001","limti":1}`, "", "additionalProperties", "limti", ``},
	} {
		var m *Mismatch
		if !errors.As(s.Check(t.Context(), json.RawMessage(c.value)), &m) {
			t.Fatalf("%s fits", c.value)
		}
		if m.Pointer != c.pointer || m.Rule != c.rule || m.Property != c.property || string(m.Value) != c.do {
			t.Errorf("%s: %+v, value %s", c.value, m, m.Value)
		}
	}
}

func TestCheckOfNothing(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object","required":["id"]}`, `lacks "id"`},
		{`{"type":"object"}`, ``},
		{`{"type":"array","minItems":1}`, `has 0 elements, but needs at least 1`},
		{`true`, ``},
	} {
		got := ""
		if err := compile(t, c.schema, "").Check(t.Context(), nil); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.schema, got, c.want)
		}
	}
}

func TestCompileInsideACatalog(t *testing.T) {
	doc := `{"$schema":"https://example.org/unknown","$id":"x","id":5,"type":"catalog","required":"all","title":3,
		"methods":[{"name":"a","params":{"type":"object","properties":{"o":{"$ref":"#/$defs/order"},"p":{"$ref":"#/definitions/own"}},
		"definitions":{"own":{"type":"boolean"}}}}],"$defs":{"order":{"type":"integer"}}}`
	s := compile(t, doc, "/methods/0/params")
	for value, want := range map[string]string{
		`{"o":1,"p":true}`: "", `{"o":"1"}`: "/o: got string, want integer", `{"p":1}`: "/p: got number, want boolean",
	} {
		if err := s.Check(t.Context(), json.RawMessage(value)); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: got %v, want %q", value, err, want)
		}
	}
}

func TestOlderDrafts(t *testing.T) {
	for _, c := range []struct{ schema, good, bad string }{
		{`{"type":"array","items":[{"type":"integer"},{"type":"string"}],"additionalItems":false}`, `[1,"a"]`, `["a"]`},
		{`{"type":"integer","minimum":0,"exclusiveMinimum":true}`, `1`, `0`},
		{`{"not":{"format":"regex"}}`, `"(?&x)"`, `"a"`}, // it is unknown whether another engine supports the pattern
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#n","definitions":{"n":{"$id":"#n","type":"integer"}}}`, `1`, `"x"`},
	} {
		s := compile(t, c.schema, "")
		if err := s.Check(t.Context(), json.RawMessage(c.good)); err != nil {
			t.Errorf("%s: %s: %v", c.schema, c.good, err)
		}
		if s.Check(t.Context(), json.RawMessage(c.bad)) == nil {
			t.Errorf("%s: %s fits", c.schema, c.bad)
		}
	}
}

func TestUncheckedPartsWarnOnce(t *testing.T) {
	for _, c := range []struct{ name, schema, good, bad, warning string }{
		{
			"a pattern that no engine knows", `{"properties":{"a":{"pattern":"^(?&x)","maxLength":2},"b":{"pattern":"^(?&x)"}}}`,
			`{"a":"xx"}`, `{"a":"abc"}`, "(?&x)",
		},
		{
			"names of a pattern that no engine knows", `{"patternProperties":{"^(?&x)":{"type":"integer"}},"properties":{"b":{"type":"integer"}},"additionalProperties":false}`,
			`{"a":"text"}`, `{"b":"text"}`, "(?&x)",
		},
		{
			"lost definition", `{"properties":{"a":{"$ref":"#/$defs/gone"},"b":{"$ref":"#/$defs/gone"},"c":{"type":"integer"}}}`,
			`{"a":1,"b":[]}`, `{"c":"x"}`, "#/$defs/gone",
		},
		{"lost anchor", `{"properties":{"a":{"$ref":"#gone"},"c":{"type":"integer"}}}`, `{"a":1}`, `{"c":"x"}`, "#gone"},
		{"a file", `{"properties":{"a":{"$ref":"file:///etc/passwd"},"c":{"type":"integer"}}}`, `{"a":1}`, `{"c":"x"}`, "file:///etc/passwd"},
		{"the network", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json#/y"},"c":{"type":"integer"}}}`, `{"a":1}`, `{"c":"x"}`, "http://127.0.0.1:1/x.json#/y"},
		{"beside it", `{"properties":{"a":{"$ref":"other.json"},"c":{"type":"integer"}}}`, `{"a":1}`, `{"c":"x"}`, "other.json"},
		{
			"an unknown draft", `{"properties":{"a":{"$ref":"http://json-schema.org/gone#/x"},"c":{"$ref":"#/$defs/c"}},"$defs":{"c":{"type":"integer"}}}`,
			`{"a":1}`, `{"c":"x"}`, "http://json-schema.org/gone#/x",
		},
		{
			"a part of another resource", `{"properties":{"a":{"$ref":"http://h/s#/gone"},"c":{"$ref":"http://h/s"}},"$defs":{"s":{"$id":"http://h/s","type":"integer"}}}`,
			`{"a":"x"}`, `{"c":"x"}`, "http://h/s#/gone",
		},
		{
			"what another resource refers to", `{"properties":{"c":{"$ref":"http://h/s"}},"$defs":{"s":{"$id":"http://h/s","type":"integer","allOf":[{"$ref":"#/gone"}]}}}`,
			`{"c":1}`, `{"c":"x"}`, "#/gone",
		},
		{
			"an anchor of another resource",
			`{"properties":{"a":{"$ref":"http://h/s#gone"},"c":{"$ref":"http://h/s"}},"$defs":{"s":{"$id":"http://h/s","type":"integer"}}}`,
			`{"a":"x"}`, `{"c":"x"}`, "http://h/s#gone",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var warnings []string
			s, err := Compile(json.RawMessage(c.schema), "", Options{Warn: func(w string) { warnings = append(warnings, w) }})
			testkit.OK(t, err)
			if len(warnings) != 1 || !strings.Contains(warnings[0], c.warning) {
				t.Errorf("warnings: %q", warnings)
			}
			if err := s.Check(t.Context(), json.RawMessage(c.good)); err != nil {
				t.Error(err)
			}
			if s.Check(t.Context(), json.RawMessage(c.bad)) == nil {
				t.Errorf("%s fits", c.bad)
			}
		})
	}
}

func TestUnusableSchemas(t *testing.T) {
	for _, c := range []struct{ doc, pointer, want string }{
		{`{"type":"strin"}`, "", "the schema is not usable: at /type: "},
		{`{`, "", "reading the schema: unexpected EOF"},
		{`{}`, "/methods/0", `reading the schema: nothing found at "/methods/0"`},
	} {
		_, err := Compile(json.RawMessage(c.doc), c.pointer, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s at %q: got %v, want %s…", c.doc, c.pointer, err, c.want)
		}
	}
}

func TestByName(t *testing.T) {
	s := compile(t, `{"allOf":[{"properties":{"z":{}}}],"type":"object","properties":{"to":{},"from":{"type":"string"},"a b":{}}}`, "")
	for in, want := range map[string]string{
		`[1, "x"]`:    `{"to":1,"from":"x"}`,
		`[1.10]`:      `{"to":1.10}`,
		`[]`:          `{}`,
		`[1,2,3,4]`:   `{"to":1,"from":2,"a b":3,"z":4}`,
		`[1,2,3,4,5]`: `[1,2,3,4,5]`,
		`{"to":1}`:    `{"to":1}`,
		``:            ``,
	} {
		if got := s.ByName(json.RawMessage(in)); string(got) != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

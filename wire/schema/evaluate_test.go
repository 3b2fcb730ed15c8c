package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/testkit"
)

// lenient compiles a schema and returns its warnings, which do not fail the test.
func lenient(t testing.TB, doc, pointer string) (*Schema, *[]string) {
	t.Helper()
	var warnings []string
	s, err := Compile(json.RawMessage(doc), pointer, Options{Warn: func(w string) { warnings = append(warnings, w) }})
	testkit.OK(t, err)
	return s, &warnings
}

// The result of a broken $ref is unknown. A result that depends on it is not a failure, and is a success only if the reference does
// not matter.
func TestLostReferencesAreUnknown(t *testing.T) {
	for _, c := range []struct{ name, schema, good, bad string }{
		{"oneOf", `{"oneOf":[{"$ref":"#/$defs/gone"},{"type":"null"}]}`, `null`, ``},
		{"oneOf of several that are known", `{"oneOf":[{"$ref":"#/$defs/gone"},{"type":"null"},{"enum":[null]}]}`, `1`, `null`},
		{"not", `{"not":{"$ref":"#/$defs/gone"}}`, `1`, ``},
		{"not of what is known in part", `{"not":{"type":"object","properties":{"a":{"$ref":"#/$defs/gone"}}}}`, `{"a":1}`, `{}`},
		{"if", `{"if":{"$ref":"#/$defs/gone"},"then":{"type":"string"},"else":{"type":"number"}}`, `null`, ``},
		{"maxContains", `{"contains":{"$ref":"#/$defs/gone"},"maxContains":1}`, `[1,2]`, `[]`},
		{"minContains", `{"contains":{"$ref":"#/$defs/gone"},"minContains":2}`, `[1,2]`, `[1]`},
		{"unevaluatedProperties", `{"$ref":"#/$defs/gone","unevaluatedProperties":false}`, `{"a":1}`, ``},
		{"unevaluatedItems", `{"anyOf":[{"$ref":"#/$defs/gone"},true],"unevaluatedItems":false}`, `[1]`, ``},
		{"anyOf", `{"anyOf":[{"$ref":"#/$defs/gone"},{"type":"null"}]}`, `1`, ``},
		{"not of an anyOf", `{"not":{"anyOf":[{"$ref":"#/$defs/gone"},{"type":"null"}]}}`, `1`, `null`},
		{"allOf", `{"allOf":[{"$ref":"#/$defs/gone"},{"type":"integer"}]}`, `1`, `"x"`},
		{"through a definition", `{"not":{"$ref":"#/$defs/a"},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/gone"}]}}}`, `1`, ``},
		{"dependentSchemas", `{"not":{"dependentSchemas":{"a":{"$ref":"#/$defs/gone"}}}}`, `{"a":1}`, `{"b":1}`},
		{"propertyNames", `{"not":{"propertyNames":{"$ref":"#gone"}}}`, `{"a":1}`, `{}`},
		{"not of not", `{"not":{"not":{"$ref":"#/$defs/gone"}}}`, `1`, ``},
		{"not of allOf", `{"not":{"allOf":[{"$ref":"#/$defs/gone"},{"type":"integer"}]}}`, `1`, ``},
		{"not of oneOf", `{"not":{"oneOf":[{"$ref":"#/$defs/gone"},{"type":"null"}]}}`, `1`, ``},
		{"not of if with then", `{"not":{"if":{"$ref":"#/$defs/gone"},"then":{"type":"string"}}}`, `1`, ``},
		{"not of if with else", `{"not":{"if":{"$ref":"#/$defs/gone"},"else":{"type":"string"}}}`, `1`, ``},
		{"not of if alone", `{"anyOf":[{"type":"null"},{"not":{"if":{"$ref":"#/$defs/gone"}}}]}`, `null`, `1`},
		{"not of contains", `{"not":{"contains":{"$ref":"#/$defs/gone"}}}`, `[1]`, `1`},
		{"not of maxContains", `{"not":{"contains":{"$ref":"#/$defs/gone"},"minContains":0,"maxContains":1}}`, `[1,2]`, `[1]`},
		{"not of items", `{"not":{"items":{"$ref":"#/$defs/gone"}}}`, `[1]`, `[]`},
		{"not of what an unknown pattern names", `{"not":{"patternProperties":{"(?&a)":{"type":"integer"}}}}`, `{"a":"x"}`, `{"a":1}`},
		{"not of none beside an unknown pattern", `{"not":{"patternProperties":{"(?&a)":true},"additionalProperties":false}}`, `{"a":1}`, `{}`},
		{"not of others beside an unknown pattern", `{"not":{"patternProperties":{"(?&a)":true},"additionalProperties":{"type":"string"}}}`, `{"a":1}`, `{"a":"x"}`},
		{"not of unevaluatedItems beside anyOf", `{"not":{"anyOf":[{"$ref":"#/$defs/gone"},true],"unevaluatedItems":false}}`, `[1]`, `[]`},
		{"not of unevaluatedItems beside contains", `{"not":{"contains":{"$ref":"#/$defs/gone"},"minContains":0,"unevaluatedItems":false}}`, `[1]`, `[]`},
		{"not of unevaluatedItems beside if", `{"not":{"if":{"$ref":"#/$defs/gone"},"unevaluatedItems":{"type":"string"}}}`, `[1]`, `["x"]`},
		{"not of unevaluatedProperties beside allOf", `{"not":{"allOf":[{"anyOf":[true,{"$ref":"#/$defs/gone"}]}],"unevaluatedProperties":false}}`, `{"a":1}`, `{}`},
		{"not of unevaluatedProperties beside a pattern", `{"not":{"patternProperties":{"(?&a)":true},"unevaluatedProperties":false}}`, `{"a":1}`, `{}`},
		{"unevaluatedItems beside contains", `{"contains":{"$ref":"#/$defs/gone"},"minContains":0,"unevaluatedItems":false}`, `[1]`, ``},
		{"unevaluatedItems within unevaluatedItems", `{"properties":{"z":{"$ref":"#/$defs/gone"}},"allOf":[{"unevaluatedItems":{"type":"integer"}}],"unevaluatedItems":false}`, `[1]`, `["x"]`},
		{"unevaluatedItems beside if", `{"if":{"$ref":"#/$defs/gone"},"unevaluatedItems":{"type":"string"}}`, `[1]`, ``},
		{"unevaluatedProperties beside allOf", `{"allOf":[{"anyOf":[true,{"$ref":"#/$defs/gone"}]}],"unevaluatedProperties":false}`, `{"a":1}`, ``},
		{"unevaluatedProperties beside a pattern", `{"patternProperties":{"(?&a)":true},"unevaluatedProperties":false}`, `{"a":1}`, ``},
		{"a pattern in oneOf", `{"oneOf":[{"type":"string","pattern":"^(?&a)"},{"type":"string","minLength":1}]}`, `"b"`, `1`},
		{"a pattern in not", `{"not":{"type":"string","pattern":"^(?&a)"}}`, `"b"`, ``},
		{"a name's pattern", `{"patternProperties":{"(?&a)":{"type":"integer"}},"additionalProperties":{"type":"string"}}`, `{"a":1,"b":"x"}`, ``},
		{"draft 4", `{"$schema":"http://json-schema.org/draft-04/schema#","oneOf":[{"$ref":"#/definitions/gone"},{"type":"null"}]}`, `null`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, warnings := lenient(t, c.schema, "")
			if len(*warnings) != 1 || !strings.Contains((*warnings)[0], "left unchecked") {
				t.Errorf("warnings: %q", *warnings)
			}
			if err := s.Check(t.Context(), json.RawMessage(c.good)); err != nil {
				t.Error(err)
			}
			if c.bad != "" && s.Check(t.Context(), json.RawMessage(c.bad)) == nil {
				t.Errorf("%s fits", c.bad)
			}
		})
	}
}

// In a schema in a catalog, # refers to the schema itself.
func TestASchemaInACatalogIsItsOwnRoot(t *testing.T) {
	s := compile(t, `{"methods":[{"params":{"type":"object","properties":{"child":{"$ref":"#"}},"additionalProperties":false}}]}`, "/methods/0/params")
	if err := s.Check(t.Context(), json.RawMessage(`{"child":{"child":{}}}`)); err != nil {
		t.Error(err)
	}
	if s.Check(t.Context(), json.RawMessage(`{"child":{"x":1}}`)) == nil {
		t.Error("a value that a recursive schema forbids is accepted")
	}
}

// doubled returns a chain of definitions, each of which refers to the next one twice.
func doubled(keyword, leaf string) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `"d%d":{"%s":[{"$ref":"#/$defs/d%d"},{"allOf":[{"$ref":"#/$defs/d%d"}]}]},`, i, keyword, i+1, i+1)
	}
	return `{"$ref":"#/$defs/d0","$defs":{` + b.String() + `"d40":` + leaf + `}}`
}

// A small schema can have exponentially many paths.
func TestSmallSchemasTakeFewSteps(t *testing.T) {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, leaf := range []string{`{"type":"integer"}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}}}`} {
			s, warnings := lenient(t, doubled(keyword, leaf), "")
			s.steps = 10_000
			for _, v := range []string{`"x"`, `1`, `{"a":{"a":{"a":"x"}}}`} {
				_ = s.Check(t.Context(), json.RawMessage(v))
				_, _ = s.Coerce(t.Context(), []string{"a"}, "1")
			}
			if len(*warnings) > 0 {
				t.Errorf("%s of %s: %s", keyword, leaf, *warnings)
			}
		}
	}
}

// A small schema and a large value can multiply to too many steps and too much memory. Each check has limits for both, and ends
// when its context ends.
func TestKeywordsThatMultiply(t *testing.T) {
	testkit.RaceSkips(t)
	many := func(keyword, part string) string {
		return `{"` + keyword + `":[` + part + strings.Repeat(","+part, 300) + `]}`
	}
	numbers := "[" + strings.Repeat("1,", 50_000) + "2]"
	objects := "{" + members(20_000) + "}"
	deep := strings.Repeat("[", 900) + strings.Repeat("]", 900)
	for name, c := range map[string]struct{ schema, value string }{
		"contains":                     {many("allOf", `{"contains":{"const":3}}`), numbers},
		"contains at each level":       {many("anyOf", `{"contains":{"type":"string"},"minContains":2}`), numbers},
		"uniqueItems":                  {many("anyOf", `{"uniqueItems":true,"minItems":1}`), "[" + strings.ReplaceAll(members(20_000), ":", ",") + "]"},
		"uniqueItems inside":           {`{"uniqueItems":true,"items":{"$ref":"#"}}`, deep},
		"patternProperties":            {`{"patternProperties":{"(a?){50}b":false,"(c?){50}b":false}}`, objects},
		"unevaluatedProperties":        {many("allOf", `{"patternProperties":{".":true},"unevaluatedProperties":false}`), objects},
		"unevaluatedItems":             {many("allOf", `{"contains":{"type":"integer"},"unevaluatedItems":false}`), numbers},
		"unevaluatedItems of anyOf":    {`{"unevaluatedItems":false,` + many("anyOf", `{"items":true}`)[1:], numbers},
		"a $dynamicRef to itself":      {`{"$dynamicAnchor":"a","anyOf":[{"$dynamicRef":"#a"},{"allOf":[{"$dynamicRef":"#a"}]}]}`, `1`},
		"a $dynamicRef at each level":  {`{"$dynamicAnchor":"a","anyOf":[{"items":{"$dynamicRef":"#a"}},{"items":{"allOf":[{"$dynamicRef":"#a"}]}}]}`, deep},
		"a $recursiveRef at each":      {`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"anyOf":[{"items":{"$recursiveRef":"#"}},{"items":{"not":{"$recursiveRef":"#"}}}]}`, deep},
		"a $ref at each level":         {`{"anyOf":[{"items":{"$ref":"#"}},{"items":{"not":{"$ref":"#"}}}]}`, deep},
		"many failures at each level":  {`{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}},{"minItems":1}]}`, deep},
		"many failures in a long list": {`{"items":{"allOf":[{"type":"string"},{"minimum":5}]}}`, numbers},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(fstest.MapFS{"s": {Data: []byte(c.schema)}}, "s", "", FileOptions{})
			testkit.OK(t, err)
			s.steps, s.stepsPerByte = 300_000, 0
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found, _, err := s.All(t.Context(), json.RawMessage(c.value))
			if err != nil || len(found) > maxCauses {
				t.Errorf("%d mismatches, %v", len(found), err)
			}
			if runtime.ReadMemStats(&after); after.Sys-before.Sys > 500<<20 {
				t.Errorf("%d MiB", (after.Sys-before.Sys)>>20)
			}
			ended, end := context.WithCancel(t.Context())
			end()
			if found, _, err := s.All(ended, json.RawMessage(numbers)); len(found) == 0 && err == nil && strings.Contains(c.schema, "tems\"") {
				t.Error("a check continues after its context ended")
			}
		})
	}
}

// All reports unknown results as mismatches.
func TestAllReportsUncheckedParts(t *testing.T) {
	for schema, want := range map[string]string{
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`: "$ref cannot be checked: a $ref in the schema refers to itself",
		`{"items":{"enum":[1]}}`: "steps takes more than 100 steps to check",
	} {
		s, err := Open(fstest.MapFS{"s": {Data: []byte(schema)}}, "s", "", FileOptions{})
		testkit.OK(t, err)
		s.steps, s.stepsPerByte = 100, 0
		found := all(t, s, []byte("[1"+strings.Repeat(",1", 500)+"]"))
		if len(found) != 1 || found[0].Rule+" "+found[0].Message != want {
			t.Errorf("%s: %v", schema, found)
		}
	}
}

// A check that takes too many steps ends without a result and with one warning.
func TestStepsAreCounted(t *testing.T) {
	s, warnings := lenient(t, `{"type":"array","items":{"enum":["a","b"]}}`, "")
	s.steps = 1000
	if err := s.Check(t.Context(), json.RawMessage(`["x"`+strings.Repeat(`,"a"`, 5000)+`]`)); err == nil {
		t.Error("a mismatch that was found before the limit of steps is not reported")
	}
	value := json.RawMessage(`["a"` + strings.Repeat(`,"a"`, 5000) + `]`)
	for range 2 {
		if err := s.Check(t.Context(), value); err != nil {
			t.Error(err)
		}
	}
	if len(*warnings) != 1 || !strings.Contains((*warnings)[0], "more than 1000 steps") {
		t.Errorf("warnings: %q", *warnings)
	}
	for _, c := range []struct{ schema, value string }{
		{`{"not":{"uniqueItems":true}}`, "[" + strings.ReplaceAll(members(5000), ":", ",") + "]"},
		{`{"not":{"items":{"type":"string"}}}`, string(value)},
		{`{"not":{"additionalProperties":true}}`, "{" + members(5000) + "}"},
		{`{"not":{"additionalProperties":{"type":"integer"}}}`, "{" + members(5000) + "}"},
	} {
		s, _ := lenient(t, c.schema, "")
		s.steps = 1000
		if err := s.Check(t.Context(), json.RawMessage(c.value)); err != nil {
			t.Errorf("%s: a value that was not checked completely is rejected: %v", c.schema, err)
		}
	}
	s.steps = maxSteps
	ended, end := context.WithCancel(t.Context())
	end()
	if err := s.Check(ended, value); !errors.Is(err, context.Canceled) {
		t.Error("a check continues after its context ended:", err)
	}
}

// members returns n members of an object as text.
func members(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"%d":%d`, i, i))
	}
	return strings.Join(all, ",")
}

// Expensive operations count as several steps.
func TestCostlyRulesCostSteps(t *testing.T) {
	for _, c := range []struct{ schema, value string }{
		{`{"enum":[` + strings.Repeat(`"x",`, 20_000) + `"y"]}`, `"y"`},
		{`{"pattern":"^(a?){500}$"}`, `"` + strings.Repeat("a", 1000) + `"`},
		{`{"uniqueItems":true}`, `["` + strings.Repeat("a", 50_000) + `","b"]`},
		{`{"minimum":1}`, `1` + strings.Repeat("0", 4000)},
		{`{"const":["` + strings.Repeat("a", 50_000) + `"]}`, `["` + strings.Repeat("a", 50_000) + `"]`},
	} {
		s, _ := lenient(t, c.schema, "")
		val, err := read([]byte(c.value))
		testkit.OK(t, err)
		e := s.evaluation(t.Context(), 0)
		if e.whole(s.schema, val); maxSteps-e.left < 100 {
			t.Errorf("%.40s: %d steps", c.schema, maxSteps-e.left)
		}
	}
}

func TestLargeSchemasAreRefused(t *testing.T) {
	_, err := Compile(json.RawMessage(`{"anyOf":[true`+strings.Repeat(`,{"type":"string"}`, maxSchemas)+`]}`), "", Options{})
	if err == nil || !strings.Contains(err.Error(), "more than 5000 schemas") {
		t.Error(err)
	}
	_, err = Compile(json.RawMessage(`{"minimum":1e999999999}`), "", Options{})
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Error(err)
	}
	var lost strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lost, `,{"$ref":"http://example.org/%d"},{"$ref":"#/$defs/%d"},{"$ref":"#a%d"}`, i, i, i)
	}
	s, warnings := lenient(t, `{"anyOf":[false`+lost.String()+`]}`, "")
	if err := s.Check(t.Context(), json.RawMessage(`1`)); err != nil || len(*warnings) != maxWarnings {
		t.Error(err, len(*warnings))
	}
}

// Where no result is unknown, verdicts equal those of the library.
func TestVerdictsAreTheLibrarys(t *testing.T) {
	schemas := []string{
		`{"type":["integer","null"],"minimum":2,"multipleOf":2}`, `{"const":{"a":[1,2.0]}}`, `{"enum":[1,"a",null,[],{}]}`,
		`{"type":"object","properties":{"a":{"type":"integer"}},"patternProperties":{"^b":{"type":"string"}},"additionalProperties":false,"required":["a"]}`,
		`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"not":{"required":["a"]}}`,
		`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"maxProperties":1}}`, `{"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}`,
		`{"contains":{"type":"integer"},"minContains":2,"maxContains":2}`, `{"contains":{"type":"integer"},"minContains":0}`, `{"uniqueItems":true,"maxItems":2}`,
		`{"allOf":[{"properties":{"a":true}}],"anyOf":[{"properties":{"b":{"type":"string"}},"required":["b"]},true],"unevaluatedProperties":false}`,
		`{"prefixItems":[true],"contains":{"type":"integer"},"unevaluatedItems":{"type":"string"}}`, `{"propertyNames":{"maxLength":1}}`,
		`{"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{"maxProperties":1}}}`, `{"properties":{"a":{"$ref":"#"}},"type":"object"}`,
		`{"$defs":{"x":{"$anchor":"n","type":"integer"}},"items":{"$ref":"#n"}}`, `{"format":"uuid"}`, `{"minLength":2,"maxLength":3,"pattern":"^a"}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"}],"additionalItems":{"type":"string"},"dependencies":{"a":["b"]}}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","maximum":2,"exclusiveMaximum":true,"definitions":{"a":{}}}`,
		`{"$id":"http://example.org/s","$defs":{"a":{"$id":"a","$defs":{"b":{"type":"integer"}},"items":{"$ref":"#/$defs/b"}}},"$ref":"a"}`,
		`{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"type":["array","integer"]}`, `{"properties":{"a":false},"minProperties":1}`, `true`, `false`,
	}
	values := []string{
		`1`, `2`, `2.0`, `4`, `-0`, `0.0`, `1e2`, `null`, `true`, `"a"`, `"aéé"`, `"abcd"`, `"3fa85f64-5717-4562-b3fc-2c963f66afa6"`, `[]`, `{}`,
		`[1]`, `[1,"a"]`, `["a",1]`, `[1,1.0]`, `[1,2]`, `[1,2,3]`, `["a","b"]`, `{"a":1}`, `{"a":{}}`, `{"b":"x"}`, `{"a":1,"b":"x"}`, `{"a":1,"b":2}`,
		`{"a":[1,2]}`, `{"cc":1}`, `{"a":1,"cc":1}`, `[[1],[[2]]]`, `[["a"]]`, `{"a":{"a":1}}`,
	}
	for _, doc := range schemas {
		s := compile(t, doc, "")
		for _, v := range values {
			val, err := jsonschema.UnmarshalJSON(strings.NewReader(v))
			testkit.OK(t, err)
			if got, want := s.Check(t.Context(), json.RawMessage(v)), s.schema.Validate(val); (got == nil) != (want == nil) {
				t.Errorf("%s: %s: got %v, want %v", doc, v, got, want)
			}
		}
	}
}

// A dynamic reference resolves to the outermost resource that has an anchor of that name.
func TestDynamicReferences(t *testing.T) {
	const recursive = `{"$schema":"https://json-schema.org/draft/2019-09/schema","$defs":{DEFS},"properties":{"n":{"type":"integer"},"sub":{"$recursiveRef":"#"}}MORE}`
	const dynamic = `{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{DEFS},"properties":{"n":{"type":"integer"},"sub":{"$dynamicRef":"REF"}}MORE}`
	for _, c := range []struct {
		schema, defs, more, ref string
	}{
		{recursive, ``, ``, ``},
		{recursive, ``, `,"$recursiveAnchor":true`, ``},
		{recursive, `"o":{"$recursiveAnchor":true}`, `,"$recursiveAnchor":true`, ``},
		{recursive, `"o":{"$recursiveAnchor":true},"p":{"$recursiveAnchor":true}`, ``, ``},
		{dynamic, ``, `,"$dynamicAnchor":"a"`, `#a`},
		{dynamic, `"o":{"$id":"o","$dynamicAnchor":"b"},"p":{"$id":"p","$dynamicAnchor":"b"}`, `,"$dynamicAnchor":"a"`, `#a`},
		{dynamic, `"o":{"$id":"o","$dynamicAnchor":"a"}`, `,"$dynamicAnchor":"a"`, `#a`},
		{dynamic, `"o":{"$id":"o","$dynamicAnchor":"a"},"p":{"$id":"p","$dynamicAnchor":"a"}`, ``, `#`},
	} {
		doc := strings.NewReplacer("DEFS", c.defs, "MORE", c.more, "REF", c.ref).Replace(c.schema)
		s, _ := lenient(t, doc, "")
		if err := s.Check(t.Context(), json.RawMessage(`{"sub":{"sub":{"n":1}}}`)); err != nil {
			t.Errorf("%s: %v", doc, err)
		}
		if s.Check(t.Context(), json.RawMessage(`{"sub":{"sub":{"n":"x"}}}`)) == nil {
			t.Errorf("%s: a string is accepted as an integer", doc)
		}
	}
}

// Reusing memory does not change the stored verdicts about elements.
func TestRememberedFailures(t *testing.T) {
	s, err := Open(fstest.MapFS{"s": {Data: []byte(`{"allOf":[{"items":{"anyOf":[{"$ref":"#/$defs/a"},true]}},{"items":{"$ref":"#/$defs/a"}}],
		"$defs":{"a":{"properties":{"x":{"type":"integer"}}}}}`)}}, "s", "", FileOptions{})
	testkit.OK(t, err)
	for range 2 {
		found, _, err := s.All(t.Context(), json.RawMessage(`[{"x":1},{"x":"no"},{"x":2},{"x":3}]`))
		if err != nil || len(found) != 1 || found[0].Pointer != "/1/x" {
			t.Errorf("%+v, %v", found, err)
		}
	}
}

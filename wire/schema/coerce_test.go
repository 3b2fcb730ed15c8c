package schema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
)

const typing = `{"type":"object","properties":{
	"text":{"type":"string"},"int":{"type":"integer","minimum":3},"num":{"type":"number"},"bool":{"type":"boolean"},"nil":{"type":"null"},
	"list":{"type":"array","items":{"type":"integer"}},"pair":{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}]},
	"obj":{"type":"object","properties":{"in":{"type":"integer"}},"additionalProperties":{"type":"boolean"}},
	"both":{"type":["string","integer"]},"maybe":{"type":["integer","null"]},
	"any":{},"true":true,"never":false,
	"some":{"anyOf":[{"type":"integer"},{"type":"boolean"}]},
	"hex":{"oneOf":[{"type":"string","pattern":"^0x"},{"type":"integer"}]},
	"all":{"allOf":[{"type":"integer"},{"minimum":5}]},
	"ref":{"$ref":"#/$defs/n"},"tree":{"$ref":"#/$defs/tree"},
	"digits":{"enum":[1,2,3]},"mixed":{"enum":["auto",1,null]},"one":{"const":7},"word":{"enum":["on","off"]},
	"deep":{"allOf":[{"properties":{"x":{"type":"integer"}}}],"oneOf":[{"properties":{"y":{"type":"boolean"}}},{"properties":{"y":{"type":"integer"}}}]}},
	"patternProperties":{"^n_":{"type":"number"}},
	"$defs":{"n":{"$ref":"#/$defs/m"},"m":{"type":"integer"},
		"tree":{"type":"object","properties":{"v":{"type":"integer"},"sub":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}`

// pathOf returns a path of names and [], separated by blanks.
func pathOf(text string) []string {
	return wire.Map(strings.Fields(text), func(part string) string { return strings.TrimSuffix(part, "[]") })
}

func TestCoerce(t *testing.T) {
	s := compile(t, typing, "")
	for _, c := range []struct{ path, text, want string }{
		{"text", `5`, `"5"`},
		{"text", `a "b"`, `"a \"b\""`},
		{"int", `12345678901234567890`, `12345678901234567890`},
		{"int", `5.0`, `5.0`},
		{"int", `1`, `1`}, // below the minimum, which Check reports
		{"int", `1.5`, `! /int: got "1.5", want integer`},
		{"int", `05`, `! /int: got "05", want integer`},
		{"int", ``, `! /int: got "", want integer`},
		{"int", ` 5`, `5`},
		{"num", `1.10`, `1.10`},
		{"num", `1e3`, `1e3`},
		{"num", `NaN`, `! /num: got "NaN", want number`},
		{"bool", `true`, `true`},
		{"bool", `yes`, `! /bool: got "yes", want boolean`},
		{"bool", `flase`, `! /bool: got "flase", want boolean; did you mean false?`},
		{"bool", `1`, `! /bool: got "1", want boolean`},
		{"nil", `null`, `null`},
		{"list", `[1, 2]`, `[1, 2]`},
		{"list", `1`, `! /list: got "1", want array`},
		{"list []", `1`, `1`},
		{"list []", `x`, `! /list/-: got "x", want integer`},
		{"pair []", `1`, `"1"`}, // the type of the element is unknown here
		{"obj", `{"in":1}`, `{"in":1}`},
		{"obj in", `1`, `1`},
		{"obj other", `true`, `true`},
		{"both", `5`, `"5"`},
		{"maybe", `5`, `5`},
		{"maybe", `null`, `null`},
		{"maybe", `x`, `! /maybe: got "x", want null or integer`},
		{"any", `5`, `"5"`},
		{"any x y", `5`, `"5"`},
		{"true", `5`, `"5"`},
		{"never", `5`, `! /never: no value is allowed here`},
		{"unknown", `5`, `"5"`},
		{"some", `5`, `5`},
		{"some", `true`, `true`},
		{"some", `x`, `! /some: got "x", want boolean or integer`},
		{"hex", `0x5`, `"0x5"`},
		{"hex", `5`, `5`},
		{"hex", `x`, `"x"`}, // strings are allowed; Check reports invalid ones
		{"all", `7`, `7`},
		{"all", `1`, `1`},
		{"ref", `5`, `5`},
		{"tree sub [] sub [] v", `5`, `5`},
		{"digits", `2`, `2`},
		{"digits", `9`, `9`},
		{"digits", `x`, `! /digits: got "x", want number`},
		{"mixed", `auto`, `"auto"`},
		{"mixed", `1`, `1`},
		{"mixed", `null`, `null`},
		{"one", `7`, `7`},
		{"one", `x`, `! /one: got "x", want number`},
		{"word", `on`, `"on"`},
		{"deep x", `5`, `5`},
		{"deep y", `true`, `true`},
		{"deep y", `5`, `5`},
		{"deep z", `5`, `"5"`},
		{"n_x", `5`, `5`},
	} {
		v, err := s.Coerce(t.Context(), pathOf(c.path), c.text)
		got := string(v)
		if err != nil {
			var m *Mismatch
			if !errors.As(err, &m) {
				t.Errorf("%s: %#v is not a Mismatch", c.path, err)
			}
			got = "! " + err.Error()
		}
		if got != c.want {
			t.Errorf("%s=%s:\n got %s\nwant %s", c.path, c.text, got, c.want)
		}
	}
}

// A circular schema does not cause an endless loop.
func TestCoerceInCircles(t *testing.T) {
	for _, doc := range []string{
		`{"$ref":"#"}`,
		`{"allOf":[{"$ref":"#"}],"properties":{"a":{"$ref":"#"}}}`,
		`{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`,
	} {
		s, err := Compile(json.RawMessage(doc), "", Options{})
		if err != nil {
			continue
		}
		_, _ = s.Coerce(t.Context(), []string{"a", "b"}, "5")
		_, _ = s.Coerce(t.Context(), nil, "5")
		_ = s.Check(t.Context(), json.RawMessage(`{"a":{"b":5}}`))
		_ = s.ByName(json.RawMessage(`[1]`))
	}
}

func FuzzCoerce(f *testing.F) {
	for _, text := range []string{"5", "true", "x", "", "[1,2]", `{"in":1}`, "1e9999999", "0x5", "\xff", "null"} {
		for _, path := range []string{"int", "list []", "tree sub [] v", "hex", "mixed", "num", "never", "n_x", "deep y"} {
			f.Add(path, text)
		}
	}
	s, err := Compile(json.RawMessage(typing), "", Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		v, err := s.Coerce(t.Context(), pathOf(path), text)
		var m *Mismatch
		switch {
		case err != nil && !errors.As(err, &m):
			t.Fatalf("%#v", err)
		case err == nil && !json.Valid(v):
			t.Fatalf("%q is not JSON", v)
		}
	})
}

func FuzzCheck(f *testing.F) {
	f.Add(typing, `{"int":5,"tree":{"sub":[{"v":"x"}]}}`)
	f.Add(order, `{"id":"o_001","pay":{"by":"card"}}`)
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/gone"}},"patternProperties":{"(?!x)":{}}}`, `{"a":1}`)
	f.Add(`{"$ref":"#"}`, `1`)
	f.Add(`{"$id":"http://x/y","$ref":"z#/a","items":[{"$anchor":"q"}]}`, `[1]`)
	f.Fuzz(func(t *testing.T, doc, value string) {
		start := time.Now()
		defer func() {
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("took %v", d)
			}
		}()
		s, err := Compile(json.RawMessage(doc), "", Options{})
		if err != nil {
			return
		}
		err = s.Check(t.Context(), json.RawMessage(value))
		var m *Mismatch
		if err != nil && !errors.As(err, &m) {
			t.Fatalf("%#v", err)
		}
		s.ByName(json.RawMessage(value))
		_, _ = s.Coerce(t.Context(), []string{"a", Append}, value)
	})
}

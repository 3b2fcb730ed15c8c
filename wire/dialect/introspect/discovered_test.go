package introspect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// told returns a service with one module, which has these methods and that schema.
func told(methods, schema string) *discovered {
	k := newDiscovered(json.RawMessage(`{"modules":[{"namespace":"s","version":"1.0.0","description":"d","methods":`+methods+`}]}`), nil)
	k.Schemas["s"] = json.RawMessage(schema)
	return k
}

// Services describe modules in several forms.
func TestReadModule(t *testing.T) {
	tests := []struct{ name, methods, schema, want, notes string }{
		{
			"the page's", `["a","b"]`, `{"oneOf":[{"type":"object","description":"A","properties":{"method":{"const":"a"},"x":{"type":"string"}},"required":["method","x"]},{"type":"object","properties":{"method":{"const":"b"}},"required":["method"]}]}`,
			`[{"name":"s_a","kind":"stream","description":"A","params":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}},{"name":"s_b","kind":"stream","params":{"type":"object","properties":{}}}]`, "",
		},
		{
			"in another order", `["a","b"]`, `{"oneOf":[{"properties":{"method":{"const":"b"}}},{"properties":{"method":{"enum":["a"]},"x":true}}]}`,
			`[{"name":"s_a","kind":"stream","params":{"properties":{"x":true}}},{"name":"s_b","kind":"stream","params":{"properties":{}}}]`, "different order",
		},
		{
			"without names", `["a","b"]`, `{"oneOf":[{"properties":{"x":{}}},{"properties":{"y":{}}}]}`,
			`[{"name":"s_a","kind":"stream","params":{"properties":{"x":{}}}},{"name":"s_b","kind":"stream","params":{"properties":{"y":{}}}}]`, "",
		},
		{
			"with whole names", `["a","b"]`, `{"anyOf":[{"properties":{"method":{"const":"s.a"},"x":{}}},{"properties":{"method":{"const":"s_b"},"y":{}}}]}`,
			`[{"name":"s_a","kind":"stream","params":{"properties":{"x":{}}}},{"name":"s_b","kind":"stream","params":{"properties":{"y":{}}}}]`, "",
		},
		{
			"adjacently tagged", `["a"]`, `{"oneOf":[{"description":"A","properties":{"method":{"const":"a"},"params":{"type":"object","properties":{"method":{"type":"string"}}}},"required":["method","params"]}]}`,
			`[{"name":"s_a","kind":"stream","description":"A","params":{"type":"object","properties":{"method":{"type":"string"}}}}]`, "",
		},
		{
			"a parameter called params among others", `["a"]`, `{"oneOf":[{"properties":{"method":{"const":"a"},"params":{},"x":{}}}]}`,
			`[{"name":"s_a","kind":"stream","params":{"properties":{"params":{},"x":{}}}}]`, "",
		},
		{
			"by reference, with words beside it", `["a"]`, `{"oneOf":[{"$ref":"#/definitions/A","description":"mine"}],"definitions":{"A":{"description":"its","properties":{"method":{"const":"a"},"x":{"$ref":"#/definitions/X"}}},"X":{"items":{"$ref":"#/definitions/X"}}}}`,
			`[{"name":"s_a","kind":"stream","description":"mine","params":{"properties":{"x":{"$ref":"#/$defs/X"}}}}]`, "",
		},
		{
			"put together", `["a"]`, `{"oneOf":[{"allOf":[{"properties":{"method":{"const":"a"}},"required":["method"]},{"properties":{"x":{}},"required":["x"]}]}]}`,
			`[{"name":"s_a","kind":"stream","params":{"allOf":[{"properties":{}},{"properties":{"x":{}},"required":["x"]}]}}]`, "",
		},
		{
			"with older lists", `["a"]`, `{"oneOf":[{"properties":{"method":{"const":"a"},"items":{"items":[{"type":"string"},{"items":[true]}],"additionalItems":false,"default":{"items":[1]}}, "x":{"items":{"type":"integer"}}}}]}`,
			`[{"name":"s_a","kind":"stream","params":{"properties":{"items":{"prefixItems":[{"type":"string"},{"prefixItems":[true]}],"items":false,"default":{"items":[1]}},"x":{"items":{"type":"integer"}}}}}]`, "",
		},
		{"of one method", `["a"]`, `{"properties":{"method":{"const":"a"},"x":{}}}`, `[{"name":"s_a","kind":"stream","params":{"properties":{"x":{}}}}]`, ""},
		{
			"of more than it lists", `["a"]`, `{"oneOf":[{"properties":{"method":{"const":"a"}}},{"properties":{"method":{"const":"z"}}}]}`,
			`[{"name":"s_a","kind":"stream","params":{"properties":{}}}]`, "does not list, such as z",
		},
		{
			"of less than it lists", `["a","b"]`, `{"oneOf":[{"properties":{"method":{"const":"a"}}}]}`,
			`[{"name":"s_a","kind":"stream","params":{"properties":{}}},{"name":"s_b","kind":"stream"}]`, "",
		},
		{"in a circle", `["a"]`, `{"oneOf":[{"$ref":"#/$defs/A"}],"$defs":{"A":{"$ref":"#/$defs/A"}}}`, `[{"name":"s_a","kind":"stream","params":{"$ref":"#/$defs/A"}}]`, ""},
		{"an invalid one", `["a"]`, `{"oneOf":5}`, `[{"name":"s_a","kind":"stream"}]`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var notes []string
			c := told(test.methods, test.schema).catalog(func(text string) { notes = append(notes, text) })
			got, _ := json.Marshal(c.Methods)
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if all := strings.Join(notes, "; "); test.notes == "" && all != "" || !strings.Contains(all, test.notes) {
				t.Errorf("noted %q, want %q", all, test.notes)
			}
		})
	}
}

// The hashes of a service are kept once each, and not more than maxHashes.
func TestHashesAreBounded(t *testing.T) {
	hashes := []string{"", "a", "b", "a", "c", "d", "e", "f", "g", "h", "i"}
	if got := strings.Join(newDiscovered(nil, hashes).Hashes, ""); got != "abcdefgh" {
		t.Error(got)
	}
}

// Two modules can define a name differently.
func TestDefinitionsOfSeveralModules(t *testing.T) {
	k := newDiscovered(json.RawMessage(`{"modules":[{"namespace":"a","methods":["x"]},{"namespace":"b","methods":["x"]},{"namespace":"c","methods":["x"]}]}`), nil)
	one := `{"oneOf":[{"properties":{"method":{"const":"x"},"id":{"$ref":"#/$defs/Id"}}}],"$defs":{"Id":{"type":"string"}}}`
	other := strings.Replace(one, `"string"`, `"integer"`, 1)
	k.Schemas = map[string]json.RawMessage{"a": json.RawMessage(one), "b": json.RawMessage(other), "c": json.RawMessage(one)}
	c := k.catalog(func(string) {})
	if string(c.Defs["Id"]) != `{"type":"string"}` || string(c.Defs["b_Id"]) != `{"type":"integer"}` || len(c.Defs) != 2 {
		t.Errorf("%s", c.Defs)
	}
	for name, ref := range map[string]string{"a_x": `"#/$defs/Id"`, "b_x": `"#/$defs/b_Id"`, "c_x": `"#/$defs/Id"`} {
		if params := string(c.Method(name).Params); !strings.Contains(params, ref) {
			t.Errorf("%s: %s", name, params)
		}
	}
}

func TestHashes(t *testing.T) {
	var h hashes
	h.note([]byte(`"x"`)) // without a cached schema, a new hash has no effect
	h.trust(nil)
	h.note([]byte(`"a"`))
	h.note([]byte(`"a"`))
	h.note([]byte(`"b"`))
	if got := h.collected(); !slices.Equal(got, []string{`"a"`, `"b"`}) {
		t.Error(got)
	}
	h.trust([]string{`"a"`, `"b"`})
	h.note([]byte(`"b"`))
	if stale, wrong := h.doubts(); stale || wrong {
		t.Error("a known hash is reported as stale or wrong")
	}
	h.wrong.Store(true)
	h.note([]byte(`"c"`))
	if stale, wrong := h.doubts(); !stale || !wrong {
		t.Error("another hash, or rejected params, must be reported")
	}
}

// FuzzCatalog checks that any description and any cache file become a catalog that can be read again.
func FuzzCatalog(f *testing.F) {
	f.Add(`{"modules":[{"namespace":"s","methods":["a",1,""]},{"namespace":""},5]}`,
		`{"oneOf":[{"$ref":"#/$defs/A"},{"properties":{"method":{"enum":["a"]},"params":{}}}],"definitions":{"A":{"allOf":[{"$ref":"#/$defs/A"}]}}}`)
	f.Add(`{"modules":{"namespace":"s"}}`, `{"oneOf":[[],{"properties":[],"required":{},"allOf":[5]}],"$defs":[]}`)
	f.Fuzz(func(t *testing.T, modules, schema string) {
		if !json.Valid([]byte(modules)) || !json.Valid([]byte(schema)) || readDiscovered([]byte(`{"introspect":1,"modules":`+modules+`}`)) == nil {
			return
		}
		k := newDiscovered(json.RawMessage(modules), nil)
		for _, m := range k.modules() {
			k.Schemas[m.Namespace] = json.RawMessage(schema)
		}
		c := cachedCatalog(scan.JSON(k))
		if c == nil {
			t.Fatal("the written catalog cannot be read")
		}
		catalog.Normalize(c)
		b, err := c.Marshal()
		testkit.OK(t, err)
		if _, err := catalog.Parse(b); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		o := newModuleCatalog(c)
		for _, m := range o.modules {
			if !json.Valid(m.schema()) {
				t.Fatalf("%s", m.schema())
			}
		}
		o.guided(o.unknown("s_zzz"), "s_zzz", false)
	})
}

// A variant may be eight references away. References may be circular, so the search for it ends there.
func TestReferencesToAVariant(t *testing.T) {
	s := schemaReader{defs: map[string]json.RawMessage{"0": json.RawMessage(`{"x":1}`)}}
	for n := 1; n < 9; n++ {
		s.defs[fmt.Sprint(n)] = fmt.Appendf(nil, `{"$ref":"#/$defs/%d"}`, n-1)
	}
	for at, want := range map[string]string{`{"$ref":"#/$defs/7"}`: `{"x":1}`, `{"$ref":"#/$defs/8"}`: `{"$ref":"#/$defs/0"}`} {
		testkit.Expect(t, at, string(s.resolve(json.RawMessage(at))), want)
	}
}

package catalog

import (
	"encoding/json"
	"testing"
)

// Each schema is at a limit of the example values.
func TestExampleValues(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{}`, `"string"`},
		{`true`, `"string"`},
		{`{"const":{"a":1},"default":2}`, `{"a":1}`},
		{`{"example":1,"default":2}`, "1"},
		{`{"default":null}`, "null"},
		{`{"examples":[3,4],"enum":[5]}`, "3"},
		{`{"examples":[],"enum":[5]}`, "5"},
		{`{"type":"integer"}`, "1"},
		{`{"type":"integer","minimum":5}`, "5"},
		{`{"type":"integer","minimum":5.0}`, "5"},
		{`{"type":"number","minimum":-2.5}`, "-2.5"},
		{`{"type":"integer","exclusiveMinimum":0}`, "1"},
		{`{"type":"integer","exclusiveMinimum":7}`, "8"},
		{`{"type":"integer","exclusiveMinimum":true}`, "1"},
		{`{"type":"integer","maximum":0}`, "0"},
		{`{"type":"integer","maximum":1}`, "1"},
		{`{"type":"integer","maximum":-3}`, "-3"},
		{`{"type":"integer","exclusiveMaximum":1}`, "0"},
		{`{"type":"integer","exclusiveMaximum":2}`, "1"},
		{`{"type":"integer","exclusiveMaximum":1.5}`, "1"},
		{`{"type":"integer","exclusiveMinimum":3,"exclusiveMaximum":4}`, "3"},
		{`{"type":"boolean"}`, "true"},
		{`{"type":"null"}`, "null"},
		{`{"type":["null","integer"]}`, "1"},
		{`{"type":"string"}`, `"string"`},
		{`{"type":"string","format":"uuid"}`, `"123e4567-e89b-12d3-a456-426614174000"`},
		{`{"type":"string","format":"date-time"}`, `"2026-01-31T12:00:00Z"`},
		{`{"type":"string","format":"odd"}`, `"string"`},
		{`{"type":"string","minLength":6}`, `"string"`},
		{`{"type":"string","minLength":7}`, `"stringx"`},
		{`{"type":"string","minLength":9}`, `"stringxxx"`},
		{`{"type":"string","maxLength":0}`, `""`},
		{`{"type":"string","maxLength":5}`, `"strin"`},
		{`{"type":"string","maxLength":6}`, `"string"`},
		{`{"type":"string","maxLength":-1}`, `""`},
		{`{"type":"array"}`, "[]"},
		{`{"type":"array","items":{"type":"integer"}}`, "[1]"},
		{`{"type":"array","items":{"type":"integer"},"minItems":0}`, "[1]"},
		{`{"type":"array","items":{"type":"integer"},"minItems":2}`, "[1,1]"},
		{`{"type":"array","items":{"type":"integer"},"minItems":21}`, "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"},
		{`{"type":"array","items":[{"type":"integer"},{"type":"null"}]}`, "[1,null]"},
		{`{"type":"array","prefixItems":[{"type":"boolean"}],"items":{"type":"integer"}}`, "[true]"},
		{`{"items":{"type":"integer"}}`, "[1]"},
		{`{"prefixItems":[{"type":"null"}]}`, "[null]"},
		{`{"items":{},"anyOf":[{"type":"null"}]}`, "null"},
		{`{"type":"object"}`, "{}"},
		{`{"type":"object","properties":{"a":{"type":"integer"},"b":{}},"required":["b","a","c"]}`, `{"a":1,"b":"string","c":"string"}`},
		{`{"type":"object","properties":{"a":{"type":"integer"}},"required":"a"}`, "{}"},
		{`{"type":"object","required":["a"],"allOf":[{"type":"object","required":["b","a"],"properties":{"a":{"const":2}}}]}`, `{"a":"string","b":"string"}`},
		{`{"type":"object","oneOf":[{"type":"object","required":["x"]},{"type":"object","required":["y"]}]}`, `{"x":"string"}`},
		{`{"type":"object","anyOf":[{"type":"object","required":["x"]}],"oneOf":[{"type":"object","required":["y"]}]}`, `{"x":"string","y":"string"}`},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, "1"},
		{`{"oneOf":[{"type":"object","required":["x"]},{"type":"null"}]}`, `{"x":"string"}`},
		{`{"allOf":[{"type":"object","required":["x"]},{"type":"object","required":["y"]}]}`, `{"x":"string","y":"string"}`},
		{`{"anyOf":[]}`, `"string"`},
		{`{"$ref":"#/$defs/n"}`, "3"},
		{`{"$ref":"#/$defs/none"}`, `"string"`},
		{`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/loop"}}}`, `{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":null}}}}}}}}}`},
	} {
		got := string(ExampleValue([]byte(c.schema), []byte(`{"$defs":{"n":{"type":"integer","minimum":3},"loop":{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/loop"}}}}}`)))
		if got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("GOLD %q\n got %q\nwant %q", c.schema, got, c.want)
		}
	}
}

// The words are examples of a method's arguments.
func TestExampleWords(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{`{}`, "[null,null]"},
		{`{"type":"array"}`, "[null,null]"},
		{`{"type":"array","prefixItems":[{"type":"integer"}]}`, `[["[1]"],["[1]"]]`},
		{`{"type":"object","required":["a","b"],"properties":{"b":{"type":"integer"},"a":{}}}`, `[["b:=\u003cinteger\u003e","a=\u003cstring\u003e"],["b:=1","a=string"]]`},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"string","default":"x y"}}}`, `[["a=x y"],["a=x y"]]`},
		{`{"type":"object","required":["a"],"properties":{"a":{"enum":[1]}}}`, `[["a:=1"],["a:=1"]]`},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"array","items":{"type":"null"}}}}`, `[["a:=[null]"],["a:=[null]"]]`},
		{`{"type":"object","required":["a.b[0]"],"properties":{"a.b[0]":{"type":"boolean"}}}`, `[["a\\.b\\[0]:=\u003cboolean\u003e"],["a\\.b\\[0]:=true"]]`},
		{`{"type":"object","required":["a=b"]}`, `[["{\"a=b\":\"string\"}"],["{\"a=b\":\"string\"}"]]`},
		{`{"type":"object","required":["a b"]}`, `[["{\"a b\":\"string\"}"],["{\"a b\":\"string\"}"]]`},
		{`{"type":"object","required":["1a"]}`, `[["{\"1a\":\"string\"}"],["{\"1a\":\"string\"}"]]`},
		{`{"type":"object","required":["_a"]}`, `[["_a=\u003cstring\u003e"],["_a=string"]]`},
		{`{"type":"object","required":["$a"]}`, `[["$a=\u003cstring\u003e"],["$a=string"]]`},
		{`{"type":"object","required":["Za"]}`, `[["Za=\u003cstring\u003e"],["Za=string"]]`},
		{`{"type":"object","required":["za"]}`, `[["za=\u003cstring\u003e"],["za=string"]]`},
		{`{"type":"object","required":["@a"]}`, `[["{\"@a\":\"string\"}"],["{\"@a\":\"string\"}"]]`},
		{`{"type":"object","required":["[a"]}`, `[["{\"[a\":\"string\"}"],["{\"[a\":\"string\"}"]]`},
		{`{"type":"object","required":[""]}`, `[["{\"\":\"string\"}"],["{\"\":\"string\"}"]]`},
		{`{"oneOf":[{"type":"object","required":["x"]}]}`, `[["{\"x\":\"string\"}"],["{\"x\":\"string\"}"]]`},
	} {
		m := Method{Params: json.RawMessage(c.params)}
		plain, exact := m.Example(nil, Conventions{}), m.Example(nil, Conventions{RunnableExamples: true})
		b, _ := json.Marshal([][]string{plain, exact})
		if string(b) != c.want {
			t.Errorf("GOLD %q\n got %q\nwant %q", c.params, b, c.want)
		}
	}
}

// Members in the wrong place of a peer's catalog are moved to extra.
func TestMended(t *testing.T) {
	for _, c := range []struct{ catalog, want string }{
		{`{"methods":[{"name":"a"},{"name":"a","description":"again"},{"name":""}]}`, `{"catalog":1,"info":{},"methods":[{"name":"a"}],"extra":{"methods":[{"name":"a","description":"again"},{"name":""}]}}`},
		{`{"methods":[{"name":"a","kind":"odd","params":7,"result":"x","hints":1,"cache":[],"extra":5}]}`, `{"catalog":1,"info":{},"methods":[{"name":"a","extra":{"kind":"odd","params":7,"result":"x","hints":1,"cache":[],"extra":5}}]}`},
		{`{"methods":[{"name":"a","kind":"stream","params":true,"result":{},"hints":{},"cache":{"max-age":5}}]}`, `{"catalog":1,"info":{},"methods":[{"name":"a","kind":"stream","params":true,"result":{},"hints":{},"cache":{"max-age":5}}]}`},
		{`{"methods":[{"name":"a","cache":{"max-age":"5"}}]}`, `{"catalog":1,"info":{},"methods":[{"name":"a","extra":{"cache":{"max-age":"5"}}}]}`},
		{`{"methods":[{"name":"a","cache":{"max-age":-5}}]}`, `{"catalog":1,"info":{},"methods":[{"name":"a","extra":{"cache":{"max-age":-5}}}]}`},
		{`{"methods":[{"name":"a","cache":{"max-age":0}}]}`, `{"catalog":1,"info":{},"methods":[{"name":"a","cache":{"max-age":0}}]}`},
		{`{"methods":[{"name":"a","cache":{"max-age":9}}]}`, `{"catalog":1,"info":{},"methods":[{"name":"a","cache":{"max-age":9}}]}`},
		{`{"methods":[{"name":"a","events":{"x":1,"y":{}}}]}`, `{"catalog":1,"info":{},"methods":[{"name":"a","events":{"y":{}},"extra":{"events":{"x":1}}}]}`},
		{`{"methods":[],"classes":[{"name":"A"},7],"constants":[1],"$defs":{"a":1,"b":true},"extra":"e","info":{"extra":[{"a":1}]}}`, `{"catalog":1,"info":{"extra":{"extra":[{"a":1}]}},"methods":[],"classes":[{"name":"A"}],"$defs":{"b":true},"extra":{"classes":[7],"constants":[1],"$defs":{"a":1},"extra":"e"}}`},
		{`{"methods":[],"classes":[7],"constants":{"a":1},"$defs":{"a":1}}`, `{"catalog":1,"info":{},"methods":[],"constants":{"a":1},"extra":{"classes":[7],"$defs":{"a":1}}}`},
	} {
		var cat Catalog
		if err := json.Unmarshal([]byte(c.catalog), &cat); err != nil {
			type method Method // has no UnmarshalJSON, which rejects such members
			var raw struct {
				Methods   []method
				Classes   []json.RawMessage
				Constants json.RawMessage
				Defs      map[string]json.RawMessage `json:"$defs"`
				Extra     json.RawMessage
				Info      struct{ Extra json.RawMessage }
			}
			if err := json.Unmarshal([]byte(c.catalog), &raw); err != nil {
				t.Fatal(err)
			}
			cat = Catalog{Classes: raw.Classes, Constants: raw.Constants, Defs: raw.Defs, Extra: raw.Extra, Info: Info{Extra: raw.Info.Extra}}
			for _, m := range raw.Methods {
				cat.Methods = append(cat.Methods, Method(m))
			}
		}
		Normalize(&cat)
		got, err := cat.Marshal()
		if err != nil || string(got) != c.want {
			t.Errorf("GOLD %q\n got %q\nwant %q (%v)", c.catalog, got, c.want, err)
		}
		if _, err := Parse(got); err != nil {
			t.Errorf("%s is not a catalog: %v", got, err)
		}
	}
}

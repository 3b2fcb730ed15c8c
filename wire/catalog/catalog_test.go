package catalog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/serve"
	"rpcx/wire/testkit"
)

func TestUnknownMembersAreKeptInExtra(t *testing.T) {
	in := `{"extra":{"a":1},"x-new":[1.10],"catalog":1,"info":{"license":"MIT","name":"n"},"methods":[
		{"name":"m","deprecated":true,"extra":{"deprecated":false,"k":12345678901234567890},"params":{"b":1,"a":2}},{"name":"<n>"}]}`
	want := `{"catalog":1,"info":{"name":"n","extra":{"license":"MIT"}},"methods":[` +
		`{"name":"m","params":{"b":1,"a":2},"extra":{"deprecated":false,"k":12345678901234567890}},{"name":"<n>"}],` +
		`"extra":{"a":1,"x-new":[1.10]}}`
	c, err := catalog.Parse([]byte(in))
	testkit.OK(t, err)
	got, err := c.Marshal()
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	again, err := catalog.Parse(got)
	testkit.OK(t, err)
	if twice, _ := again.Marshal(); string(twice) != want {
		t.Errorf("after Parse and Marshal: %s", twice)
	}
	var direct catalog.Catalog
	testkit.OK(t, json.Unmarshal([]byte(in), &direct))
	if b, _ := direct.Marshal(); string(b) != want {
		t.Errorf("json.Unmarshal: %s", b)
	}
}

func TestMembersHaveAFixedOrder(t *testing.T) {
	in := `{"extra":{},"$defs":{"d":true},"constants":{"c":1},"classes":[{"name":"C"}],"methods":[{"extra":{},"run":"deny",
		"cache":{"max-age":1},"hints":{},"effects":["e"],"events":{"t":true},"result":true,"params":true,"description":"d",
		"kind":"stream","name":"m"}],"info":{"description":"d","version":"1","name":"n"},"dialect":"jsonrpc","catalog":1}`
	want := `{"catalog":1,"dialect":"jsonrpc","info":{"name":"n","version":"1","description":"d"},"methods":[{"name":"m","kind":"stream",` +
		`"description":"d","params":true,"result":true,"events":{"t":true},"effects":["e"],"hints":{},"cache":{"max-age":1},` +
		`"run":"deny","extra":{}}],"classes":[{"name":"C"}],"constants":{"c":1},"$defs":{"d":true},"extra":{}}`
	c, err := catalog.Parse([]byte(in))
	testkit.OK(t, err)
	if got, err := c.Marshal(); err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestSelfContained(t *testing.T) {
	c, err := catalog.Parse([]byte(`{"catalog":1,"methods":[{"name":"a","result":{"$ref":"#/$defs/N"},"events":{"e":{"$ref":"#/$defs/N"},"f":true}}],"$defs":{"M":{"type":"null"},"N":{"type":"integer"}}}`))
	testkit.OK(t, err)
	const want = `{"$ref":"#/$defs/N","$defs":{"N":{"type":"integer"}}}`
	if m := c.SelfContained().Methods[0]; string(m.Result) != want || string(m.Events["e"]) != want || string(m.Events["f"]) != "true" {
		t.Errorf("%s, %s, %s", m.Result, m.Events["e"], m.Events["f"])
	}
	if got := string(c.Methods[0].Events["e"]); got != `{"$ref":"#/$defs/N"}` {
		t.Errorf("the catalog itself has changed: %s", got)
	}
}

func TestAnEmptyCatalogHasItsMethods(t *testing.T) {
	got, err := (&catalog.Catalog{}).Marshal()
	if want := `{"catalog":1,"info":{},"methods":[]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// broken lists invalid catalogs and the errors from Parse. The JSON Schema accepts the marked ones.
var broken = []struct {
	text, want string
	unseen     bool
}{
	{text: `[]`, want: `it must be an object`},
	{text: `{"catalog":1}`, want: `it must have "methods", an array`},
	{text: `{"methods":[]}`, want: `it must have "catalog":1`},
	{text: `{"catalog":2,"methods":[]}`, want: `it must have "catalog":1`},
	{text: `{"catalog":"1","methods":[]}`, want: `/catalog: it must be a number`},
	{text: `{"catalog":1,"dialect":5,"methods":[]}`, want: `/dialect: it must be a string`},
	{text: `{"catalog":1,"info":[],"methods":[]}`, want: `/info: it must be an object`},
	{text: `{"catalog":1,"info":{"name":1},"methods":[]}`, want: `/info/name: it must be a string`},
	{text: `{"catalog":1,"methods":{}}`, want: `/methods: it must be an array`},
	{text: `{"catalog":1,"methods":null}`, want: `/methods: it must be an array`},
	{text: `{"catalog":1,"methods":["a"]}`, want: `/methods/0: a method must be an object`},
	{text: `{"catalog":1,"methods":[{}]}`, want: `/methods/0: a method must have a name`},
	{text: `{"catalog":1,"methods":[{"name":""}]}`, want: `/methods/0: a method must have a name`},
	{text: `{"catalog":1,"methods":[{"name":"a"},{"name":"a"}]}`, want: `/methods/1/name: "a" is already at /methods/0`, unseen: true},
	{text: `{"catalog":1,"methods":[{"name":"a","kind":5}]}`, want: `/methods/0/kind: it must be a string`},
	{text: `{"catalog":1,"methods":[{"name":"a","stream":5}]}`, want: `/methods/0/stream: it must be an object with "method" and "id"`},
	{text: `{"catalog":1,"methods":[{"name":"a","kind":"strem"}]}`, want: `/methods/0/kind: unknown kind "strem"; did you mean stream?`},
	{text: `{"catalog":1,"methods":[{"name":"a","kind":"x"}]}`, want: `use one of call, stream, job, notify`},
	{text: `{"catalog":1,"methods":[{"name":"a","params":[]}]}`, want: `/methods/0/params: a schema must be an object, true or false`},
	{text: `{"catalog":1,"methods":[{"name":"a","run":["x"]}]}`, want: `/methods/0/run: it must be a string`},
	{text: `{"catalog":1,"methods":[{"name":"a","extra":1}]}`, want: `/methods/0/extra: it must be an object`},
	{text: `{"catalog":1,"methods":[],"$defs":[]}`, want: `/$defs: it must be an object of schemas`},
}

func TestBrokenCatalogs(t *testing.T) {
	for _, c := range broken {
		_, err := catalog.Parse([]byte(c.text))
		f := wire.AsFault(err)
		if f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message, c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestLoadNamesFileAndLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.json")
	testkit.OK(t, os.WriteFile(file, []byte("{\"catalog\":1,\n  \"methods\" []}"), 0o600))
	_, err := catalog.Load(file)
	if want := file + ": line 2, column 13: not JSON"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := catalog.Load(file + ".gone"); wire.AsFault(err) == nil || wire.AsFault(err).Kind != wire.Usage {
		t.Errorf("a missing file: %v", err)
	}
}

func TestTheJSONSchema(t *testing.T) {
	doc, err := os.ReadFile("catalog.schema.json")
	testkit.OK(t, err)
	s, err := schema.Compile(doc, "", schema.Options{Warn: func(w string) { t.Error(w) }})
	testkit.OK(t, err)
	for _, name := range serve.DemoNames() {
		b, err := os.ReadFile("../serve/demo/" + name + ".json")
		testkit.OK(t, err)
		if err := s.Check(t.Context(), b); err != nil {
			t.Errorf("demo:%s: %v", name, err)
		}
		c := serve.Demo(name)
		if written, err := c.Marshal(); err != nil || s.Check(t.Context(), written) != nil {
			t.Errorf("demo:%s after Marshal: %v, %v", name, err, s.Check(t.Context(), written))
		}
	}
	for _, c := range broken {
		if s.Check(t.Context(), json.RawMessage(c.text)) == nil && !c.unseen {
			t.Errorf("%s is accepted", c.text)
		}
	}
}

func TestStripRun(t *testing.T) {
	in := `{"catalog":1,"run":"sh:1","methods":[{"name":"m","run":"sh:2","hints":{"run":"sh:3"},"cache":{"a":[{"r\u0075n":"sh:4"}]},
		"params":{"properties":{"run":{"type":"string"}}},"x":{"methods":[{"name":"n","run":"sh:5","params":{"properties":{"run":true}}}]}}],
		"classes":[{"name":"C","methods":[{"name":"k","run":"sh:6"}]}],"extra":{"deep":[[{"run":{"run":"sh:7"}}]],"result":{"run":"sh:9"}},"info":{"run":"sh:8"},
		"$defs":{"run":{"type":"integer"}}}`
	c, err := catalog.Parse([]byte(in))
	testkit.OK(t, err)
	catalog.StripRun(c)
	got, err := c.Marshal()
	testkit.OK(t, err)
	want := `{"catalog":1,"info":{"extra":{}},"methods":[{"name":"m","params":{"properties":{"run":{"type":"string"}}},"hints":{},` +
		`"cache":{"a":[{}]},"extra":{"x":{"methods":[{"name":"n","params":{"properties":{"run":true}}}]}}}],` +
		`"classes":[{"name":"C","methods":[{"name":"k"}]}],"$defs":{"run":{"type":"integer"}},"extra":{"deep":[[{}]],"result":{}}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNearest(t *testing.T) {
	if got := catalog.Nearest("x"+strings.Repeat("a", 127), []string{"y" + strings.Repeat("a", 128)}); got != "" {
		t.Errorf("a very long name is suggested: %s", got)
	}
	names := []string{"getOrder", "listOrders", "createOrder", "cancelOrder", "id", "a", "status", "eth_getBalance"}
	for given, want := range map[string]string{
		"getOder": "getOrder", "get_order": "getOrder", "GETORDER": "getOrder", "getorder": "getOrder", "orderList": "",
		"list": "listOrders", "canelOrder": "cancelOrder", "di": "id", "b": "", "A": "a", "xyz": "", "": "", "stauts": "status",
		"eth_getBalanc": "eth_getBalance", "getOrder": "", strings.Repeat("x", 1000): "",
	} {
		if got := catalog.Nearest(given, names); got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
}

func TestExamples(t *testing.T) {
	c, err := catalog.Parse([]byte(`{"catalog":1,"methods":[
		{"name":"none"},
		{"name":"optional","params":{"type":"object","properties":{"a":{"type":"string"}}}},
		{"name":"ordered","params":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"},"m":{}},"required":["a","m","z"]}},
		{"name":"given","params":{"type":"object","properties":{"id":{"$ref":"#/$defs/id"},"n":{"enum":[3,4]},"on":{"type":"boolean","default":false},"no":{"const":null}},"required":["id","n","on","no"]}},
		{"name":"nested","params":{"$ref":"#/$defs/nested"}},
		{"name":"array","params":{"type":"array","prefixItems":[{"const":"newHeads"},{"type":"integer","minimum":5}]}},
		{"name":"odd","params":{"type":"object","properties":{"a:b":{"type":"string"},"c.d":{"type":"string"}},"required":["a:b","c.d"]}},
		{"name":"dotted","params":{"type":"object","properties":{"c.d[":{"const":"x"}},"required":["c.d["]}},
		{"name":"loop","params":{"$ref":"#/methods/8/params"}},
		{"name":"parts","params":{"allOf":[{"$ref":"#/$defs/nested"},{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":0.0}}}]}},
		{"name":"forms","params":{"type":"object","required":["id"],"properties":{"id":{"$ref":"#/$defs/id"}},"oneOf":[{"required":["by"],"properties":{"by":{"enum":["bank"]}}},{"required":["to"],"properties":{"to":{"enum":["card"]}}}]}},
		{"name":"lists","params":{"type":"array","prefixItems":[{"type":"array","items":{"type":"boolean"},"minItems":2},{"type":"array","items":[{"type":"string","maxLength":3},{"type":"number","maximum":0.5}]},{"type":"integer","exclusiveMaximum":0},{"anyOf":[{"type":"null"},{"type":"string"}]}]}}
		],"$defs":{"id":{"type":"string","examples":["o_001"]},
		"nested":{"type":"object","required":["to"],"properties":{"to":{"type":"object","required":["zip"],"properties":{"zip":{"type":"integer"}}}}}}}`))
	testkit.OK(t, err)
	for name, want := range map[string][]string{
		"none": nil, "optional": nil,
		"ordered": {"z=<string>", "a:=<integer>", "m=<string>"},
		"given":   {"id=o_001", "n:=3", "on:=false", "no:=null"},
		"nested":  {`to:={"zip":1}`},
		"array":   {`["newHeads",5]`},
		"odd":     {`{"a:b":"string","c.d":"string"}`},
		"dotted":  {`c\.d\[=x`},
		"loop":    nil,
		"parts":   {`{"to":{"zip":1},"n":0}`},
		"forms":   {`{"id":"o_001","by":"bank"}`},
		"lists":   {`[[true,true],["str",0.5],-1,null]`},
	} {
		if got := c.Method(name).Example(c, catalog.Conventions{}); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range broken {
		f.Add(c.text)
	}
	f.Add(`{"catalog":1,"methods":[{"name":"m","params":{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/methods/0/params"}}}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := catalog.Parse([]byte(text))
		if err != nil {
			return
		}
		for i := range c.Methods {
			c.Methods[i].Example(c, catalog.Conventions{})
		}
		b, err := c.Marshal()
		testkit.OK(t, err)
		again, err := catalog.Parse(b)
		if err != nil {
			t.Fatalf("Parse rejects the output of Marshal: %s: %v", b, err)
		}
		if twice, _ := again.Marshal(); string(twice) != string(b) {
			t.Fatalf("changed by Parse:\n%s\n%s", b, twice)
		}
		catalog.StripRun(c)
		if b, err = c.Marshal(); err != nil || !json.Valid(b) {
			t.Fatalf("stripped: %s, %v", b, err)
		}
	})
}

func TestClosest(t *testing.T) {
	names := []string{"tree_create", "tree_get", "tree_delete"}
	for given, want := range map[string]string{
		"tree_destory": "tree_delete", "tree_cretae": "tree_create", "TreeGet": "tree_get", "xyz": "", "": "",
	} {
		if got := catalog.Closest(given, names); got != want {
			t.Errorf("closest to %q is %q, want %q", given, got, want)
		}
	}
}

// Expanding a circular reference ends.
func TestExampleOfCircles(t *testing.T) {
	var properties, required []string
	for i := range 20 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/x"}`, i))
		required = append(required, fmt.Sprintf(`"p%d"`, i))
	}
	doc := `{"$defs":{"x":{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]}}}`
	if v := catalog.ExampleValue([]byte(`{"$ref":"#/$defs/x"}`), []byte(doc)); !json.Valid(v) || len(v) > 100_000 {
		t.Errorf("%d bytes: %.100s", len(v), v)
	}
}

// A peer chooses the number of unknown members. Reading them takes linear time: quadratic time would be minutes.
func TestManyUnknownMembers(t *testing.T) {
	const n = 100_000
	known, unknown := scan.AppendObject(nil), scan.AppendObject(nil)
	for i := range n {
		known.Int("e"+strconv.Itoa(i), 1)
		unknown.Int("u"+strconv.Itoa(i), 1)
	}
	unknown.Int("catalog", 1)
	unknown.Add("methods", []byte("[]"))
	unknown.Add("extra", known.End())
	c, err := catalog.Parse(unknown.End())
	if err != nil || scan.Count(c.Extra) != 2*n {
		t.Error(scan.Count(c.Extra), err)
	}
}

// A schema can refer many times to one of its own definitions. This also takes linear time.
func TestManyReferences(t *testing.T) {
	const n = 100_000
	own := scan.AppendObject(nil)
	var refs scan.Array
	for i := range n {
		own.Add("e"+strconv.Itoa(i), []byte("{}"))
		refs.Add([]byte(`{"$ref":"#/$defs/z"}`))
	}
	own.Add("z", []byte("{}"))
	var schema scan.Object
	schema.Add("$defs", own.End())
	schema.Add("anyOf", refs.End())
	c := &catalog.Catalog{Defs: map[string]json.RawMessage{"z": json.RawMessage("{}")}}
	if all := schema.End(); string(c.WithDefs(all)) != string(all) {
		t.Error("the schema has changed")
	}
}

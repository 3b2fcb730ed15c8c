package format

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rpcx/wire/catalog"
	"rpcx/wire/testkit"
)

const orders = `{"catalog":1,"info":{"name":"orders","version":"1.2","description":"a shop\nin a box"},"methods":[
{"name":"getOrder","description":"One order by its id.","params":{"type":"object","properties":{
  "id":{"type":"string","description":"the order's id","default":"o_001"},
  "view":{"enum":["short","full"],"type":"string"},
  "since":{"type":["string","null"],"format":"date-time"}},"required":["id"]},
 "result":{"$ref":"#/$defs/Order"},"effects":["read"]},
{"name":"watchOrders","kind":"stream","description":"Orders as they come, for as long as anybody listens to them.","events":{"order":{"$ref":"#/$defs/Order"}}},
{"name":"add","params":{"type":"array","prefixItems":[{"type":"integer","title":"a"},{"oneOf":[{"type":"number"},{"type":"array","items":{"type":"number"}}]}]},"result":{"const":1}},
{"name":"bad\u001b[2J","kind":"notify","description":"x\u009by"}],
"$defs":{"Order":{"type":"object","properties":{"id":{"type":"string"},"lines":{"type":"array","items":{"$ref":"#/$defs/Line"}}},"required":["id"]}}}`

func orderCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	var c catalog.Catalog
	testkit.OK(t, json.Unmarshal([]byte(orders), &c))
	return &c
}

func TestMethods(t *testing.T) {
	tests := []struct {
		name  string
		width int
		color bool
		want  string
	}{
		{"whole", 0, false, `orders 1.2: a shop in a box

NAME          KIND    PARAMS             DESCRIPTION
getOrder      call    id [view] [since]  One order by its id.
watchOrders   stream                     Orders as they come, for as long as anybody listens to them.
add           call    a 1
bad\u001b[2J  notify                     x\u009by
`},
		{"narrow, in colour", 50, true, "\x1b[1morders 1.2: a shop in a box\x1b[0m\n\n" +
			"\x1b[1mNAME          KIND    PARAMS             DESCRIPT…\x1b[0m\n" + `getOrder      call    id [view] [since]  One orde…
watchOrders   stream                     Orders a…
add           call    a 1
bad\u001b[2J  notify                     x\u009by
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := (Listing{Catalog: orderCatalog(t), Width: test.width, Color: test.color}).Methods(); got != test.want {
				t.Errorf("\n got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	if got := (Listing{Catalog: &catalog.Catalog{}, Width: 80, Color: true}).Methods(); got != "no methods\n" {
		t.Errorf("an empty catalog: %q", got)
	}
}

func TestMethod(t *testing.T) {
	for name, want := range map[string]string{
		"getOrder": `getOrder (call)
  One order by its id.

Parameters:
  id     string                   required  the order's id; default "o_001"
  view   string                             one of short, full
  since  string|null (date-time)

Result: Order
  id     string         required
  lines  array of Line

Effects: read

Example:
  rpcx call ws://h/ getOrder id=o_001
`,
		"watchOrders": `watchOrders (stream)
  Orders as they come, for as long as anybody listens to them.

Parameters: not described

Event order: Order
  id     string         required
  lines  array of Line

Example:
  rpcx subscribe ws://h/ watchOrders
`,
		"add": `add (call)

Parameters:
  a  integer                 required
  1  number|array of number  required

Result: 1

Example:
  rpcx call ws://h/ add '[1,1]'
`,
		"bad\x1b[2J": `bad\u001b[2J (notify)
  x\u009by

Parameters: not described

Example:
  rpcx call --notify ws://h/ 'bad\u001b[2J'
`,
	} {
		c := orderCatalog(t)
		if got := (Listing{Catalog: c}).Method(c.Method(name), "ws://h/"); got != want {
			t.Errorf("%s\n got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// Schema generators write an allOf with a $ref, an enum of one value as a tag, and lists without prefixItems.
func TestMethodOfGeneratedSchemas(t *testing.T) {
	c, err := catalog.Parse([]byte(`{"catalog":1,"dialect":"introspect","methods":[{"name":"geo_add","kind":"stream","params":{
		"allOf":[{"$ref":"#/$defs/Named"},{"type":"object","required":["shape","pair"],"properties":{
			"shape":{"description":"What it is","allOf":[{"$ref":"#/$defs/Shape"}]},
			"pair":{"items":[{"type":"string"},{"type":"integer"}]},
			"n":{"type":"integer","minimum":0.0}}}]}},
		{"name":"geo_find","kind":"stream","params":{"type":"object","required":["tree"],"properties":{
			"tree":{"oneOf":[{"type":"object","required":["id"],"properties":{"id":{"type":"string","format":"uuid"}}},{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}},{"type":"null"}]},
			"near":{"anyOf":[{"$ref":"#/$defs/Named"},{"type":"null"}]},
			"cut":{"oneOf":[{"type":"object","properties":{"by":{"const":"line"},"at":{"type":"number"}}},{"type":"object","properties":{"by":{"const":"area"}}},{"type":"null"}]}}}},
		{"name":"geo_draw","kind":"stream","params":{"$ref":"#/$defs/Shape"}}],
		"$defs":{"Named":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}},
		"Shape":{"oneOf":[{"type":"object","required":["kind","r"],"properties":{"kind":{"type":"string","enum":["circle"]},"r":{"type":"number"}}},
			{"type":"object","required":["kind","side"],"properties":{"kind":{"type":"string","enum":["square"]},"side":{"type":"number"}}}]}}}`))
	testkit.OK(t, err)
	for name, want := range map[string]string{
		"geo_add": `geo_add (stream)

Parameters:
  name        string                    required
  shape       Shape                     required  What it is
  shape.kind  string                    required  one of circle, square
  shape.r     number                    required  with shape.kind=circle
  shape.side  number                    required  with shape.kind=square
  pair        array of string, integer  required
  n           integer                             at least 0

Example:
  rpcx call ws://h/ geo_add '{"name":"string","shape":{"kind":"circle","r":1},"pair":["string",1]}'
`,
		"geo_find": `geo_find (stream)

Parameters:
  tree       object|null    required
  tree.id    string (uuid)  required  in form 1 of 2
  tree.name  string         required  in form 2 of 2
  near       Named|null
  near.name  string         required
  cut        object|null
  cut.by     string         required  one of line, area
  cut.at     number                   with cut.by=line

Example:
  rpcx call ws://h/ geo_find 'tree:={"id":"123e4567-e89b-12d3-a456-426614174000"}'
`,
		"geo_draw": `geo_draw (stream)

Parameters:
  kind  string  required  one of circle, square
  r     number  required  with kind=circle
  side  number  required  with kind=square

Example:
  rpcx call ws://h/ geo_draw '{"kind":"circle","r":1}'
`,
	} {
		if got := (Listing{Catalog: c, Conventions: catalog.Conventions{CallsStream: true, RunnableExamples: true}}).Method(c.Method(name), "ws://h/"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

func FuzzMethod(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/X"}}}`, `{"$ref":"#/$defs/X"}`)
	f.Add(`[{"type":["array"]},{"prefixItems":{}}]`, `{"oneOf":[{"oneOf":[{"oneOf":[1]}]}]}`)
	f.Add(`true`, `"\u001b"`)
	f.Fuzz(func(t *testing.T, params, def string) {
		if !json.Valid([]byte(params)) || !json.Valid([]byte(def)) {
			return
		}
		c := &catalog.Catalog{Methods: []catalog.Method{{Name: "m", Params: json.RawMessage(params), Result: json.RawMessage(def)}}, Defs: map[string]json.RawMessage{"X": json.RawMessage(def)}}
		l := Listing{Catalog: c, Width: 80}
		if s := l.Method(&c.Methods[0], "e") + l.Methods(); Clean(s) != s {
			t.Fatalf("control characters for a terminal: %q", s)
		}
	})
}

// The table is at most as wide as the terminal. A wide terminal shortens no description.
func TestTheTableAdaptsToTheWidth(t *testing.T) {
	c := &catalog.Catalog{Methods: []catalog.Method{{
		Name: "createOrder", Description: strings.Repeat("word ", 12) + "end",
		Params: []byte(`{"type":"object","properties":{"first":{},"second":{},"third":{},"fourth":{},"fifth":{},"sixth":{},"seventh":{}}}`),
	}}}
	c.SetPartial(strings.Repeat("reason ", 20))
	for width, whole := range map[int][2]bool{40: {false, false}, 60: {false, false}, 80: {false, false}, 160: {true, true}, 0: {false, true}} {
		text := Listing{Catalog: c, Width: width}.Methods()
		for line := range strings.Lines(text) {
			if width > 0 && Width(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("width %d: %q", width, line)
			}
		}
		if got := [2]bool{strings.Contains(text, "[seventh]"), strings.Contains(text, "end")}; got != whole || !strings.Contains(text, "createOrder") {
			t.Errorf("width %d: all parameters and the whole description are shown: %v, want %v", width, got, whole)
		}
		if !strings.Contains(strings.Join(strings.Fields(text), " "), "There may be more methods: reason") {
			t.Errorf("width %d: %s", width, text)
		}
	}
}

// Printing the help of a method takes linear time, even with 100,000 required params.
func TestMethodOfManyParams(t *testing.T) {
	testkit.RaceSkips(t)
	const n = 100_000
	var properties, required []string
	for i := range n {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string"}`, i))
		required = append(required, fmt.Sprintf(`"p%d"`, i))
	}
	for _, schema := range []string{
		`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]}`,
		`{"type":"object","required":[` + strings.Join(required, ",") + `]}`,
	} {
		m := catalog.Method{Name: "m", Params: json.RawMessage(schema)}
		l := Listing{Catalog: &catalog.Catalog{Catalog: 1, Methods: []catalog.Method{m}}, Width: 80}
		text := l.Method(&m, "demo:")
		if !strings.Contains(text, "p99999=<string>") {
			t.Error("the example lacks the last param")
		}
		if rows := strings.Count(text, "\n  p"); rows > maxRows+n {
			t.Errorf("%d rows", rows)
		}
	}
}

func TestModules(t *testing.T) {
	got := Modules([]Module{
		{Name: "storage", Version: "1.0.0", Description: "Trees\nand nodes", Methods: []string{"tree_create", "tree_get"}},
		{Name: "big", Version: "2.0.0", Methods: make([]string, 9)},
		{Name: "letters", Methods: strings.Fields("a b c d e f g h")},
		{Name: "fits", Methods: []string{strings.Repeat("x", 40)}},
		{Name: "long", Methods: []string{strings.Repeat("x", 41)}},
		{Name: "bad\x1b[2J"},
	}, 0, false)
	want := `MODULE        VERSION  METHODS                                   DESCRIPTION
storage       1.0.0    tree_create tree_get                      Trees and nodes
big           2.0.0    9
letters                a b c d e f g h
fits                   xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
long                   xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
bad\u001b[2J
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTakes(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"method":{"const":"m"},"id":{"$ref":"#/$defs/Id"},"n":{"type":["integer","null"]}},"required":["method","id"],"$defs":{"Id":{"type":"string","format":"uuid"}}}`: "id (string (uuid), required), n (integer|null)",
		`{"type":"object","properties":{"method":{"const":"m"}}}`: "no parameters",
		`{"properties":{"a\u001b[2J":{"type":"x\u001b[2J"}}}`:     `a\u001b[2J (x\u001b[2J)`,
		`5`: "", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`: "no parameters",
	} {
		if got := Takes([]byte(schema)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", schema, got, want)
		}
	}
}

func TestPlugin(t *testing.T) {
	c, err := catalog.Parse([]byte(`{"catalog":1,"info":{"name":"hello","version":"1.0","description":"A\u001b[31m plugin"},
		"methods":[{"name":"greet","description":"Greets"},{"name":"shout","extra":{"source":"def shout(): pass"}},{"name":"Config.get"}],
		"classes":[{"name":"Config","methods":[{"name":"get","description":"One setting"}],"properties":[{"name":"name","settable":true},{"name":"label"}]}],
		"constants":{"max_retries":3,"who":"World"}}`))
	testkit.OK(t, err)
	want := `hello 1.0: A\u001b[31m plugin

FUNCTION  RUNS IN        DESCRIPTION
greet     plugin         Greets
shout     host (source)

CLASS Config  KIND                 DESCRIPTION
  get         method               One setting
  name        property, settable
  label       property, read-only

CONSTANT     VALUE
max_retries  3
who          "World"
`
	if got := Plugin(c, 0, false); got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := Plugin(&catalog.Catalog{}, 0, false); got != "no functions\n" {
		t.Errorf("%q", got)
	}
}

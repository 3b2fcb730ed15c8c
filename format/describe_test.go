package format

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"rpcx/wire/catalog"
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
	if err := json.Unmarshal([]byte(orders), &c); err != nil {
		t.Fatal(err)
	}
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
			var out bytes.Buffer
			if err := Methods(&out, orderCatalog(t), test.width, test.color); err != nil {
				t.Fatal(err)
			}
			if out.String() != test.want {
				t.Errorf("\n got\n%s\nwant\n%s", out.String(), test.want)
			}
		})
	}
	var out bytes.Buffer
	if err := Methods(&out, &catalog.Catalog{}, 80, true); err != nil || out.String() != "no methods\n" {
		t.Errorf("of nothing: %q, %v", out.String(), err)
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

Parameters: none

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

Parameters: none

Example:
  rpcx call --notify ws://h/ 'bad\u001b[2J'
`,
	} {
		c := orderCatalog(t)
		var out bytes.Buffer
		if err := Method(&out, c, c.Method(name), "ws://h/", 0, false); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%s\n got\n%s\nwant\n%s", name, out.String(), want)
		}
	}
}

// Schemas of a peer may be anything at all.
func FuzzMethod(f *testing.F) {
	f.Add(`{"properties":{"a":{"$ref":"#/$defs/X"}}}`, `{"$ref":"#/$defs/X"}`)
	f.Add(`[{"type":["array"]},{"prefixItems":{}}]`, `{"oneOf":[{"oneOf":[{"oneOf":[1]}]}]}`)
	f.Add(`true`, `"\u001b"`)
	f.Fuzz(func(t *testing.T, params, def string) {
		if !json.Valid([]byte(params)) || !json.Valid([]byte(def)) {
			return
		}
		c := &catalog.Catalog{Methods: []catalog.Method{{Name: "m", Params: json.RawMessage(params), Result: json.RawMessage(def)}}, Defs: map[string]json.RawMessage{"X": json.RawMessage(def)}}
		var out strings.Builder
		if Method(&out, c, &c.Methods[0], "e", 80, false) != nil || Methods(&out, c, 80, false) != nil {
			t.Fatal("failed")
		}
		if s := out.String(); Clean(s) != s {
			t.Fatalf("a terminal would obey %q", s)
		}
	})
}

package format

import (
	"bytes"
	"testing"
)

func TestModules(t *testing.T) {
	var out bytes.Buffer
	err := Modules(&out, []Module{
		{Name: "storage", Version: "1.0.0", Description: "Trees\nand nodes", Methods: []string{"tree_create", "tree_get"}},
		{Name: "big", Version: "2.0.0", Methods: make([]string, 9)},
		{Name: "bad\x1b[2J"},
	}, 0, false)
	want := `MODULE        VERSION  METHODS               DESCRIPTION
storage       1.0.0    tree_create tree_get  Trees and nodes
big           2.0.0    9
bad\u001b[2J
`
	if err != nil || out.String() != want {
		t.Errorf("%v, got\n%swant\n%s", err, out.String(), want)
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

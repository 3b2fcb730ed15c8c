package format

import (
	"strings"
	"testing"
)

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

package format

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// wideCatalog has long text in each member of a catalog.
func wideCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	long := strings.Repeat("what it does is told at length ", 9) + "https://docs.example/" + strings.Repeat("far/", 30)
	text, _ := json.Marshal(long)
	var c catalog.Catalog
	if err := json.Unmarshal([]byte(strings.NewReplacer("LONG", string(text)).Replace(`{"catalog":1,"info":{"name":"wide","description":LONG},"methods":[
{"name":"paint","description":LONG,"params":{"type":"object","properties":{
  "colour":{"type":"string","description":LONG,"enum":["red","green","blue"]},
  "aNameThatIsItselfAlmostAsLongAsTheLineOfATerminalThatIsEightyColumnsWideOrSo":{"type":"integer","description":LONG},
  "shape":{"anyOf":[{"$ref":"#/$defs/CircleWithALongName"},{"$ref":"#/$defs/SquareWithALongName"},{"$ref":"#/$defs/TriangleWithALongName"},{"type":"null"}],"description":LONG},
  "広い":{"type":"string","description":"広い広い広い広い広い広い広い広い広い広い広い広い広い広い広い広い広い広い広い広い広い広い広い"}},
  "required":["colour","shape"]},"result":{"type":"object","properties":{"done":{"type":"boolean","description":LONG}}},
 "events":{"application/vnd.example+json":{"type":"object","properties":{"at":{"type":"string","description":LONG}}}},
 "effects":["reads what is far away","writes what is far away","costs a lot of time and money","asks the user"]}]}`)), &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

// TestListingsFit checks that listings fit the screen and contain all text about a method.
func TestListingsFit(t *testing.T) {
	c := wideCatalog(t)
	for _, width := range []int{40, 80, 132} {
		for _, color := range []bool{false, true} {
			l := Listing{Catalog: c, Width: width, Color: color}
			method := l.Method(&c.Methods[0], "ws://host.example/path")
			modules := Modules([]Module{{Name: "paint", Description: c.Info.Description}}, width, color)
			for line := range strings.Lines(method + l.Methods() + modules) {
				line = strings.NewReplacer(colorTitle, "", colorOff, "", "\n", "").Replace(line)
				if Width(line) > width && !strings.Contains(line, "rpcx call") && !strings.Contains(line, "shape:=") {
					t.Errorf("%d columns in a terminal of %d: %s", Width(line), width, line)
				}
			}
			for _, words := range []string{"far/far/", "one of red, green, blue", "costs a lot", "required"} {
				if !strings.Contains(strings.Join(strings.Fields(method), " "), words) {
					t.Errorf("width %d: %q is missing:\n%s", width, words, method)
				}
			}
		}
	}
}

// With a known width, text is wrapped. Otherwise it stays on one line.
func TestRowsOnANarrowScreen(t *testing.T) {
	for width, want := range map[int]string{0: "  ab  cd\n", 1: "  a\n      b\n      c\n      d\n", 5: "  ab\n  cd\n", 20: "  ab  cd\n"} {
		var b strings.Builder
		writeRows(&b, [][]string{{"ab", "cd"}}, width)
		if b.String() != want {
			t.Errorf("%d columns: %q", width, b.String())
		}
	}
	var b strings.Builder
	if Wrap(&b, "", 0, "abcdef", 4); b.String() != "abcd\nef\n" {
		t.Errorf("a word that is wider than the screen: %q", b.String())
	}
}

// A long list of parameters is cut.
func TestRowsMost(t *testing.T) {
	for _, members := range []int{maxRows - 2, maxRows - 1, maxRows, maxRows + 1} {
		for _, forms := range []int{0, 1, 4} {
			var properties scan.Object
			for i := range members {
				properties.Add(fmt.Sprintf("p%03d", i), []byte(`{}`))
			}
			var schema scan.Object
			schema.Add("properties", properties.End())
			var list scan.Array
			for i := range forms {
				list.Add(fmt.Appendf(nil, `{"properties":{"f%d":{}}}`, i))
			}
			if all := list.EndOrNil(); all != nil {
				schema.Add("oneOf", all)
			}
			c := &catalog.Catalog{}
			if got, want := len(inside(c, schema.End(), "", 1)), min(members+forms, maxRows); got != want {
				t.Errorf("%d members, %d forms: %d rows, want %d", members, forms, got, want)
			}
		}
	}
}

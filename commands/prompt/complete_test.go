package prompt

import (
	"encoding/json"
	"testing"

	"rpcx/wire/catalog"
)

// TestComplete checks that Tab completes the unambiguous part of a method, and then a parameter's name.
func TestComplete(t *testing.T) {
	p := &prompt{Options: Options{Catalog: &catalog.Catalog{Methods: []catalog.Method{
		{Name: "getOrder", Params: json.RawMessage(`{"type":"object","properties":{"id":{},"full":{}}}`)},
		{Name: "getOrders"},
		{Name: "bad name"},
		{Name: "listOrder"},
		{Name: "listing"},
		{Name: "listOrders"},
	}}}}
	for line, want := range map[string]string{
		"ge": "getOrder", "b": "b", "x": "x", "l": "list", "getOrder i": "getOrder id=", `{"me`: `{"me`,
	} {
		if got, pos := p.complete(line, len(line)); got != want || pos != len(want) {
			t.Errorf("%s becomes %q, at %d", line, got, pos)
		}
	}
}

package format

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rpcx/wire/catalog"
)

// The help of a method with 100,000 required params takes linear time: with a search among all for each, it would not end.
func TestMethodOfManyParams(t *testing.T) {
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

package jq

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// An event of 2 KB that needs gojq is one string or many small values.
func BenchmarkComputed(b *testing.B) {
	var items []string
	for i := range 50 {
		items = append(items, fmt.Sprintf(`{"a":%d,"b":"item number %d"}`, i*7, i))
	}
	for _, c := range []struct{ src, in string }{
		{`.text | ascii_upcase`, `{"number":12345,"price":1.50,"text":"` + strings.Repeat("x", 1900) + `"}`},
		{`[.items[] | .a] | add`, `{"number":12345,"price":1.50,"items":[` + strings.Join(items, ",") + `]}`},
	} {
		p := compiled(b, c.src, Options{})
		b.Run(c.src, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.in)))
			for b.Loop() {
				if err := p.Run(b.Context(), json.RawMessage(c.in), func(json.RawMessage) (bool, error) { return true, nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

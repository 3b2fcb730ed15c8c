package session

import (
	"fmt"
	"strings"
	"testing"

	"rpcx/wire/hook"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/serve"
)

// TestDemosAreRight: the hooks of a demo compile, its schemas are valid, and its dialect is that of its catalog, as serving
// one assumes.
func TestDemosAreRight(t *testing.T) {
	for _, name := range serve.DemoNames() {
		c, _ := serve.Demo(name)
		if _, err := hook.FromCatalog(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		doc, err := c.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Methods {
			places := []string{"params", "result"}
			for kind := range c.Methods[i].Events {
				places = append(places, "events/"+scan.Escape(kind))
			}
			for _, place := range places {
				_, err := schema.Compile(doc, fmt.Sprintf("/methods/%d/%s", i, place), schema.Options{Warn: func(text string) { t.Error(name, text) }})
				if err != nil && !strings.Contains(err.Error(), "nothing at") {
					t.Errorf("%s: %s: %v", name, c.Methods[i].Name, err)
				}
			}
		}
		if d, ok := serve.DemoDialect(name); !ok || d != c.Dialect {
			t.Errorf("%s: dialect %q, not %q", name, d, c.Dialect)
		}
	}
}

package session

import (
	"testing"

	"rpcx/wire/hook"
	"rpcx/wire/serve"
)

// TestDemosAreRight: what the hooks of a demo say compiles, as is taken for granted where one is served, and its dialect
// is that of its catalog.
func TestDemosAreRight(t *testing.T) {
	for _, name := range serve.DemoNames() {
		c, _ := serve.Demo(name)
		if _, err := hook.FromCatalog(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d, ok := serve.DemoDialect(name); !ok || d != c.Dialect {
			t.Errorf("%s: dialect %q, not %q", name, d, c.Dialect)
		}
	}
}

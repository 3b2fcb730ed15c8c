package server

import (
	"os"
	"path/filepath"
	"testing"

	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/session"
	"rpcx/wire/testkit"
)

// TestCatalogOfHooks checks that a server without a catalog lists the exact names of its hooks, but not patterns.
func TestCatalogOfHooks(t *testing.T) {
	c, err := (&Options{}).described(dialect.Spec{}, []hook.Entry{{Pattern: "add"}, {Pattern: "get*"}, {Pattern: "add"}})
	if err != nil || len(c.Methods) != 1 || c.Methods[0].Name != "add" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestPolicy checks that a policy with a misspelt member is refused, because it would otherwise allow everything.
func TestPolicy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "catalog.json")
	for text, good := range map[string]bool{`{"deny":["x*"]}`: true, `{"alow":["x"]}`: false} {
		testkit.OK(t, os.WriteFile(file, []byte(`{"catalog":1,"methods":[],"policy":`+text+`}`), 0o600))
		o := &Options{Catalog: file}
		c, _ := o.described(dialect.Spec{}, nil)
		so := session.Options{Catalog: c}
		if err := o.policy(&so); (err == nil) != good || good && len(so.Deny) != 1 {
			t.Errorf("%s: %v, %v", text, so.Deny, err)
		}
	}
}

package probes_test

import (
	"testing"

	"rpcx/wire/dialect/all"
	"rpcx/wire/validate/probes"
)

// TestTables checks that the tables of all dialects are valid and their names unique. A dialect with rules has probes,
// so each live run has messages on its tape.
func TestTables(t *testing.T) {
	for _, name := range all.Names() {
		set, err := probes.For(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(set.Probes) == 0 && all.Named(name).Validation.Rules != "" {
			t.Errorf("%s has no probes", name)
		}
		seen := map[string]bool{}
		for _, p := range set.Probes {
			if seen[p.Name] {
				t.Errorf("%s: %s stands twice", name, p.Name)
			}
			seen[p.Name] = true
		}
	}
}

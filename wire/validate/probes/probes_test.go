package probes_test

import (
	"testing"

	"rpcx/wire/dialect/all"
	"rpcx/wire/validate/probes"
)

// TestTables checks that the tables of all dialects are valid and have unique names, and that each dialect with rules has probes,
// so that the tape of a live run has messages.
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

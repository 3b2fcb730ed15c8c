package probes_test

import (
	"testing"

	"rpcx/wire/dialect/all"
	"rpcx/wire/validate/probes"
)

// TestTables: the tables of all dialects can be read, and no name stands twice. A dialect that has rules
// has probes, so that each live run has messages, which its tape shows.
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

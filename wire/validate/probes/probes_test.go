package probes_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"rpcx/wire/dialect/all"
	"rpcx/wire/jq"
	"rpcx/wire/testkit"
	"rpcx/wire/validate"
	"rpcx/wire/validate/probes"
)

// variables has the variables of a probe, by its member for.
var variables = map[string][]string{
	"": nil, "try": {"method", "params"}, "job": {"method", "params"}, "discovery": {"method"}, "module": {"module", "nomethod"},
}

// TestTables checks that the tables of all dialects are valid and have unique names, and that each dialect with rules has probes,
// so that the tape of a live run has messages.
func TestTables(t *testing.T) {
	for _, dialect := range all.Names() {
		set, err := probes.For(dialect)
		testkit.OK(t, err)
		if len(set.Probes) == 0 && all.Named(dialect).Validation.Rules != "" {
			t.Errorf("%s has no probes", dialect)
		}
		seen := map[string]bool{}
		for _, p := range set.Probes {
			names, known := variables[p.For]
			level := p.Level == validate.Must || p.Level == validate.Should
			if p.Name == "" || seen[p.Name] || p.Page == "" || p.Section == "" || p.Sentence == "" || !level || !known {
				t.Errorf("%s: %+v stands twice, or lacks a member", dialect, p)
			}
			seen[p.Name] = true
			vars := map[string]json.RawMessage{}
			for _, name := range append([]string{"id", "id2", "id3"}, names...) {
				vars[name] = json.RawMessage("1")
			}
			for _, s := range p.Steps {
				for _, program := range append([]string{s.When, s.Fill, s.Await, s.Holds, s.Never}, slices.Collect(maps.Values(s.Keep))...) {
					if _, err := jq.Compile(cmp.Or(program, "."), jq.Options{Vars: vars}); err != nil {
						t.Errorf("%s: %s: %s: %v", dialect, p.Name, program, err)
					}
				}
				for name := range s.Keep {
					vars[name] = json.RawMessage("null")
				}
			}
		}
	}
}

package rules_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/tape"
	"rpcx/wire/testkit"
	"rpcx/wire/validate/rules"
)

// folder returns the directory of the tapes for a dialect's rules: RULE.tape for each rule, and good*.tape.
func folder(dialect string) string {
	if dialect == "jsonrpc1" {
		return filepath.Join("..", "..", "dialect", "jsonrpc", "testdata", "rules1")
	}
	own := filepath.Join("..", "..", "dialect", dialect, "testdata", "rules")
	if _, err := os.Stat(own); err != nil { // the dialect has a dialect file
		return filepath.Join("..", "..", "dialect", "page", "testdata", "rules", dialect)
	}
	return own
}

// Each rule has a tape that violates only this rule, or a planted defect (wire/validate/testdata/planted). Each dialect has a tape
// that violates none. If the other side must violate a rule first, a note on the tape names it: "also: RULE …".
func TestTapes(t *testing.T) {
	testkit.RaceSkips(t)
	for _, dialect := range withRules(t) {
		t.Run(dialect, func(t *testing.T) {
			s := set(t, dialect)
			planted := plantedRules(dialect)
			tapes := map[string]bool{}
			files, _ := filepath.Glob(filepath.Join(folder(dialect), "*.tape"))
			for _, file := range files {
				tapes[strings.TrimSuffix(filepath.Base(file), ".tape")] = true
				oneTape(t, s, file)
			}
			for _, r := range s.Rules {
				if r.Page == s.Page && !tapes[r.Name] && !slices.Contains(planted, r.Name) {
					t.Errorf("no tape breaks the rule %s: write %s", r.Name, filepath.Join(folder(dialect), r.Name+".tape"))
				}
			}
			if !tapes["good"] {
				t.Errorf("no tape without problems: write %s", filepath.Join(folder(dialect), "good.tape"))
			}
		})
	}
}

// withRules returns the dialects that have rules of their own.
func withRules(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range rules.Dialects() {
		s := set(t, name)
		if slices.ContainsFunc(s.Rules, func(r rules.Rule) bool { return r.Page == s.Page }) {
			names = append(names, name)
		}
	}
	return names
}

// plantedRules returns the rules of which the planted defects of a dialect violate at least one each.
func plantedRules(dialect string) (names []string) {
	b, _ := os.ReadFile(filepath.Join("..", "testdata", "planted", dialect+".txt")) // not every dialect has one
	for line := range strings.Lines(string(b)) {
		if parts := strings.SplitN(line, " :: ", 3); len(parts) == 3 && !strings.HasPrefix(line, "right ") {
			names = append(names, strings.Fields(parts[1])...)
		}
	}
	return names
}

func oneTape(t *testing.T, s *rules.Set, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	testkit.OK(t, err)
	name := strings.TrimSuffix(filepath.Base(file), ".tape")
	want := []string{name}
	if strings.HasPrefix(name, "good") {
		want = nil
	} else if !slices.ContainsFunc(s.Rules, func(r rules.Rule) bool { return r.Name == name }) {
		t.Errorf("%s: %s has no rule %q", file, s.Dialect, name)
	}
	r, err := tape.NewReader(strings.NewReader(string(b)), file)
	testkit.OK(t, err)
	if r.Header().Dialect != s.Dialect {
		t.Errorf("%s has the dialect %q", file, r.Header().Dialect)
	}
	for l, err := r.Next(); err == nil; l, err = r.Next() {
		if also, ok := strings.CutPrefix(l.Note, "also: "); ok {
			want = append(want, strings.Fields(also)...)
		}
	}
	found := check(t, s, file, strings.NewReader(string(b)))
	var got []string
	for _, f := range found {
		got = append(got, f.Rule)
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("%s breaks %q, want %q:\n%s", file, got, want, text(found))
	}
}

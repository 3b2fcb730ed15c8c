package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/tape"
	"rpcx/wire/testkit"
	"rpcx/wire/validate"
	"rpcx/wire/validate/rules"
)

// In dialects with message schemas, each example in the specification is valid. Without a required member or with an unknown one,
// it is invalid, and the problem names the section.
func TestMessageSchemas(t *testing.T) {
	testkit.RaceSkips(t)
	for _, dialect := range rules.Dialects() {
		if s := set(t, dialect); s.Schemas != "" {
			t.Run(dialect, func(t *testing.T) { exampleMessages(t, s) })
		}
	}
}

func exampleMessages(t *testing.T, s *rules.Set) {
	b, err := os.ReadFile(filepath.Join(filepath.Dir(folder(s.Dialect)), "examples.json"))
	testkit.OK(t, err)
	examples := map[string]map[string]any{}
	testkit.OK(t, json.Unmarshal(b, &examples))
	for name, example := range examples {
		if example["type"] != name {
			continue // a type that several messages share
		}
		if got := schemaProblems(t, s, example); got != nil {
			t.Errorf("%s: %s", name, text(got))
		}
		example["strange"] = 1
		bad := [][]validate.Problem{schemaProblems(t, s, example)}
		delete(example, "strange")
		for member, val := range example {
			if member != "type" && member != "id" && required(t, s, name, member) {
				delete(example, member)
				bad = append(bad, schemaProblems(t, s, example))
				example[member] = val
			}
		}
		for _, found := range bad {
			if len(found) != 1 || found[0].Section != validate.SectionOf(s.Page, name) {
				t.Errorf("after a change of %s, the problems are:\n%s", name, text(found))
			}
		}
	}
}

func required(t *testing.T, s *rules.Set, name, member string) bool {
	t.Helper()
	schemas := map[string]struct{ Required []string }{}
	testkit.OK(t, json.Unmarshal([]byte(s.Schemas), &schemas))
	return slices.Contains(schemas[name].Required, member)
}

// schemaProblems returns the problems that the rule schema finds in a message.
func schemaProblems(t *testing.T, s *rules.Set, msg any) (found []validate.Problem) {
	t.Helper()
	b, err := json.Marshal(msg)
	testkit.OK(t, err)
	line := tape.Line{Kind: tape.Message, Msg: b}
	lines := `{"tape":1}` + "\n" + string(line.Append(nil))
	for _, f := range check(t, s, "t", strings.NewReader(lines)) {
		if f.Rule == "schema" {
			found = append(found, f)
		}
	}
	return found
}

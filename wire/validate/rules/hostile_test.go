package rules_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rpcx/wire/tape"
	"rpcx/wire/testkit"
	"rpcx/wire/validate/rules"
)

// No rule fails, whatever value a member has.
func TestHostile(t *testing.T) {
	step := 3 // testing all mutants would take long
	if testkit.Race {
		step = 24 // scripts/check also runs this test without the race detector
	}
	for _, dialect := range withRules(t) {
		t.Run(dialect, func(t *testing.T) {
			s := set(t, dialect)
			failed := map[string]bool{}
			c, err := rules.New(s, nil, func(rule, reason string) {
				if !failed[rule] {
					t.Errorf("%s fails: %s", rule, reason)
				}
				failed[rule] = true
			})
			testkit.OK(t, err)
			lines := good(t, dialect)
			conn := 0
			for i := range lines {
				for n, bad := range mutants(lines[i].Msg) {
					if n%step != i%step {
						continue
					}
					conn++
					some := slices.Clone(lines[max(0, i-4):min(i+3, len(lines))]) // stored values affect later messages
					some[min(i, 4)].Msg = bad
					for _, l := range append(some, tape.Line{Kind: tape.Closing, Close: &tape.Close{Clean: true}}) {
						l.Conn = conn
						if _, err := c.Line(context.Background(), &l); err != nil {
							t.Fatalf("%s: %v", l.Msg, err)
						}
					}
				}
			}
		})
	}
}

// good returns the messages on the dialect's tape without problems.
func good(t *testing.T, dialect string) (lines []tape.Line) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder(dialect), "good.tape"))
	testkit.OK(t, err)
	r, err := tape.NewReader(bytes.NewReader(b), "good.tape")
	testkit.OK(t, err)
	for l, err := r.Next(); err == nil; l, err = r.Next() {
		if l.Kind == tape.Message && l.Msg != nil {
			one := *l
			one.Msg = bytes.Clone(l.Msg)
			lines = append(lines, one)
		}
	}
	return lines
}

// mutants returns variants of msg, in each of which a value is replaced or removed.
func mutants(msg json.RawMessage) (all []json.RawMessage) {
	var doc any
	if err := json.Unmarshal(msg, &doc); err != nil {
		panic(err)
	}
	add := func() {
		b, err := json.Marshal(doc)
		if err != nil {
			panic(err)
		}
		all = append(all, b)
	}
	var walk func(val any, set func(any))
	walk = func(val any, set func(any)) {
		for _, other := range []any{nil, 5, "x", []any{nil, 5}, map[string]any{"a": nil}} {
			set(other)
			add()
		}
		set(val)
		switch val := val.(type) {
		case map[string]any:
			for key, in := range val {
				delete(val, key)
				add()
				walk(in, func(v any) { val[key] = v })
			}
		case []any:
			for i, in := range val {
				walk(in, func(v any) { val[i] = v })
			}
		}
	}
	walk(doc, func(v any) { doc = v })
	return all
}

func ExampleChecker() {
	s, _ := rules.For("jsonrpc")
	c, _ := rules.New(s, nil, func(string, string) {})
	found, _ := c.Line(context.Background(), &tape.Line{Number: 1, Kind: tape.Message, Msg: []byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":5}`)})
	fmt.Println(found[0].Rule, found[0].Pointer, found[0].Got)
	// Output: params-structure /params 5
}

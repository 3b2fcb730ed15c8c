package rules_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"rpcx/wire/tape"
	"rpcx/wire/validate/rules"
)

// check returns what a tape breaks, a line each: "LINE RULE POINTER".
func check(t *testing.T, set *rules.Set, name string, r io.Reader) (found []rules.Finding) {
	t.Helper()
	c, err := rules.New(set, rules.Options{Broken: func(rule, reason string) { t.Errorf("%s: the rule %s fails: %s", name, rule, reason) }})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := tape.NewReader(r, name)
	if err != nil {
		t.Fatal(err)
	}
	for {
		l, err := lines.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.Line(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, f...)
	}
	f, err := c.End(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return append(found, f...)
}

func set(t *testing.T, dialect string) *rules.Set {
	t.Helper()
	s, err := rules.For(dialect)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Compile(); err != nil {
		t.Fatal(err)
	}
	return s
}

// text is findings, a line each.
func text(found []rules.Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%d %s %s %s %s\n", f.Line, f.From, f.Rule.Name, f.Pointer, f.Got)
	}
	return b.String()
}

func TestChecker(t *testing.T) {
	const lines = `{"tape":1}
{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a","params":5}}
{"dir":"send","msg":[{"jsonrpc":"2.0","id":2,"method":"a"},{"jsonrpc":"1.0","id":[3],"method":"a"}]}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":"1","result":5}}
`
	got := text(check(t, set(t, "jsonrpc"), "t", strings.NewReader(lines)))
	const want = `2 client params-structure /params 5
3 client version /1/jsonrpc "1.0"
3 client id-type /1/id [3]
4 server response-id /id "1"
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

package rules_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"rpcx/wire/tape"
	"rpcx/wire/testkit"
	"rpcx/wire/validate"
	"rpcx/wire/validate/rules"
)

// check returns the problems of a tape.
func check(t *testing.T, set *rules.Set, name string, r io.Reader) (found []validate.Problem) {
	t.Helper()
	c, err := rules.New(set, nil, func(rule, reason string) { t.Errorf("%s: the rule %s fails: %s", name, rule, reason) })
	testkit.OK(t, err)
	lines, err := tape.NewReader(r, name)
	testkit.OK(t, err)
	for {
		l, err := lines.Next()
		if err == io.EOF {
			break
		}
		testkit.OK(t, err)
		f, err := c.Line(context.Background(), l)
		testkit.OK(t, err)
		found = append(found, f...)
	}
	f, err := c.End(context.Background())
	testkit.OK(t, err)
	return append(found, f...)
}

func set(t *testing.T, dialect string) *rules.Set {
	t.Helper()
	s, err := rules.For(dialect)
	testkit.OK(t, err)
	testkit.OK(t, s.Compile())
	return s
}

// text returns problems as lines: "LINE RULE POINTER".
func text(found []validate.Problem) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%d %s %s %s %s\n", f.Line, f.From, f.Rule, f.Pointer, f.Got)
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

// What a tape does not have violates no rule: patterns, placeholders and redacted values. Messages that either side sends while the
// connection closes belong to that connection, until the next open line.
func TestTapeLines(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"match", `{"dir":"send","match":".method == \"a\""}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":5}}`, ""},
		{"vars", `{"dir":"send","vars":true,"msg":{"jsonrpc":"2.0","id":1,"method":"a","params":"${p}"}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":5}}`, ""},
		{"vars within text", `{"dir":"send","vars":true,"msg":{"jsonrpc":"2.0","id":1,"method":"a","params":"${p} x"}}
{"dir":"send","vars":true,"msg":{"jsonrpc":"2.0","id":2,"method":"a","params":"x ${p}"}}`, "2 client params-structure /params \"${p} x\"\n3 client params-structure /params \"x ${p}\"\n"},
		{"a number with too many digits", `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a","params":[1` + strings.Repeat("0", 10_000) + `]}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":5}}`, ""},
		{"secret", `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a","params":"…"}}`, ""},
		{"behind the close", `{"open":{}}
{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"dir":"send","close":{"clean":true}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":5}}`, ""},
		{"the server closes after the client", `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"dir":"send","close":{"clean":true}}
{"dir":"recv","close":{"clean":true}}`, ""},
		{"the server dies after the client has closed its direction", `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"dir":"send","close":{"child":{"command":"s","exit":3}}}`, "2 server answered /id 1\n"},
		{"the client ends the server", `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"dir":"send","close":{"child":{"command":"s","exit":-1,"signal":"SIGTERM"}}}`, ""},
		{"the id of an HTTP request that was cut off", `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"http":{"method":"POST","url":"http://h/","error":"context canceled","times":{"start":0}}}
{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}`, ""},
		{"reconnect", `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"open":{"reconnect":true}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":5}}`, "4 server response-id /id 1\n"},
		{"two connections", `{"conn":1,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"conn":2,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":5}}`, "3 server response-id /id 1\n"},
	} {
		got := text(check(t, set(t, "jsonrpc"), c.name, strings.NewReader(`{"tape":1}`+"\n"+c.lines+"\n")))
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// An invalid set of rules is rejected with the reason.
func TestParse(t *testing.T) {
	const rule = `page = "p"
[[rule]]
name = "n"
level = "must"
section = "s"
sentence = "S."
`
	for text, want := range map[string]string{
		rule + `jq = '.'`: "",
		rule + `jq = '.'` + strings.TrimPrefix(rule, `page = "p"`):      "another one has the same name",
		strings.Replace(rule, "must", "may", 1):                         `neither "must" nor "should"`,
		strings.Replace(rule, "S.", "", 1):                              "no sentence",
		rule + `kind = ["reply"]`:                                       `message kind "reply"`,
		rule + `from = "peer"`:                                          `neither "client" nor "server"`,
		rule + `check = "spelling"`:                                     `unknown check "spelling"`,
		rule + `program = '.'`:                                          "unknown key",
		rule + `jq = 'nothing'`:                                         "the rule n: jq: ",
		rule + "jq = '.'\n[[keep]]\njq = '['":                           "keep 1: jq: ",
		rule + "jq = '.'\n[[keep]]\nkind = ['reply']\njq = '.'":         `keep 1: unknown message kind "reply"`,
		strings.Replace(rule, "[[rule]]", "base = 'none'\n[[rule]]", 1): `unknown dialect "none"`,
	} {
		s, err := rules.Parse(text)
		if err == nil {
			err = s.Compile()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\ngot %v, want %q", text, err, want)
		}
	}
}

// A problem names the page and the section of its rule, or only the section if there is no page.
func TestSection(t *testing.T) {
	for page, want := range map[string]string{"p": "p: s", "": "s"} {
		s, err := rules.Parse(`page = "` + page + `"
[[rule]]
name = "n"
level = "must"
section = "s"
sentence = "S."
jq = '""'`)
		testkit.OK(t, err)
		s.Dialect = "jsonrpc"
		found := check(t, s, "t", strings.NewReader(`{"tape":1}
{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
`))
		if len(found) != 1 || found[0].Section != want {
			t.Errorf("page %q: got %+v, want the section %q", page, found, want)
		}
	}
}

package hook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/testkit"
)

// --on accepts these ANSWERs, and refuses others with an error.
func TestAnswers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a=./x", `a is sh "./x"`},
		{"a=sh:x y", `a is sh "x y"`},
		{"a=text:x", `a is text "x"`},
		{"a=lines:x", `a is lines "x"`},
		{"a=co:x", `a is co "x"`},
		{"a=jq:.x", `a is jq ".x"`},
		{"a=jq:.x |", "usage: hook a: jq: unexpected EOF at offset 4 of: .x |"},
		{"a=json:[1]", `a is json "[1]"`},
		{"a=json:[1", `usage: hook a: "json:[1" is not JSON: unexpected end of JSON at byte 2`},
		{"a=json:", `usage: hook a: "json:" is not JSON: unexpected end of JSON at byte 0`},
		{"a=deny", `a is deny "refused"`},
		{"a=deny:no", `a is deny "no"`},
		{"a=inbox", `a is inbox ""`},
		{"a=b=c", `a is sh "b=c"`},
		{"a=", `usage: hook a: "" contains no command`},
		{"a= ", `usage: hook a: " " contains no command`},
		{"=x", `usage: a hook must be NAME=ANSWER: "=x"`},
		{"a", `usage: a hook must be NAME=ANSWER: "a"`},
		{"", `usage: a hook must be NAME=ANSWER: ""`},
		{"a=jqq:.x", `usage: hook a: "jqq:.x": unknown kind of answer "jqq"; did you mean jq:.x? To run a command of that name, write sh:jqq:.x`},
		{"a=https://h/", `usage: hook a: "https://h/": unknown kind of answer "https"; to run a command of that name, write sh:https://h/`},
		{"a=.", `usage: hook a: "." is not a command; did you mean jq:.? To run a command of that name, write sh:.`},
		{"a=.x", `usage: hook a: ".x" is not a command; did you mean jq:.x? To run a command of that name, write sh:.x`},
		{"a=.x/y", `a is sh ".x/y"`},
		{"a=.[0]", `usage: hook a: ".[0]" is not a command; did you mean jq:.[0]? To run a command of that name, write sh:.[0]`},
		{"a=sh:", `usage: hook a: "sh:" contains no command`},
		{"a=co:", `usage: hook a: "co:" contains no command`},
		{"*=x", `* is sh "x"`},
		{"res:verb=sh:text:x", `res:verb is sh "text:x"`},
		{"get*=lines:tail -f x", `get* is lines "tail -f x"`},
		{`a=json: {"a":1.10} `, `a is json " {\"a\":1.10} "`},
		{"a=deny:", `a is deny "refused"`},
		{"a=denyall", `a is sh "denyall"`},
		{"a=inboxes", `a is sh "inboxes"`},
		{"a=C:x", `a is sh "C:x"`},
		{"a=text: ", `usage: hook a: "text: " contains no command`},
		{"a=inbox:x", `usage: hook a: "inbox:x": unknown kind of answer "inbox"; to run a command of that name, write sh:inbox:x`},
		{"a=zzzzzzz:x", `usage: hook a: "zzzzzzz:x": unknown kind of answer "zzzzzzz"; to run a command of that name, write sh:zzzzzzz:x`},
		{"a=jq:input", `usage: hook a: jq: input(s)/0 is not allowed in: input`},
		{"a=echo \x00", "usage: hook a: a command cannot contain a NUL"},
	} {
		e, err := Parse(c.text)
		got := fmt.Sprintf("%s is %s %q", e.Pattern, e.Answer.Kind, e.Answer.Text)
		if f := wire.AsFault(err); f != nil {
			got = string(f.Kind) + ": " + f.Message
			if f.Hint != "" {
				got += "; " + f.Hint
			}
		} else if err != nil {
			got = "no fault: " + err.Error()
		}
		testkit.Expect(t, c.text, got, c.want)
	}
}

// A command needs sh.
func TestNoShell(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Parse("a=x")
	refused(t, err, `"x" needs sh, which is not in PATH`)
}

// --on-open accepts these ANSWERs.
func TestOnOpenAnswers(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"x", "sh"},
		{"text:x", "text"},
		{"lines:x", "lines"},
		{"jq:.", "jq"},
		{"jq:(", "usage: --on-open: jq: unexpected EOF at offset 1 of: (; "},
		{"json:1", `usage: --on-open: "json:1" has no effect, because there is no call to answer; --on-open takes a command, or jq: with rpc or notify`},
		{"deny", `usage: --on-open: "deny" has no effect, because there is no call to answer; --on-open takes a command, or jq: with rpc or notify`},
		{"inbox", `usage: --on-open: "inbox" has no effect, because there is no call to answer; --on-open takes a command, or jq: with rpc or notify`},
		{"co:x", `usage: --on-open: "co:x" has no effect, because there is no call to answer; --on-open takes a command, or jq: with rpc or notify`},
	} {
		a, err := ParseOnOpen(c.text)
		got := ""
		if a != nil {
			got = string(a.Kind)
		}
		if f := wire.AsFault(err); f != nil {
			got += string(f.Kind) + ": " + f.Message + "; " + f.Hint
		}
		testkit.Expect(t, c.text, got, c.want)
	}
}

// A catalog has these hooks, including those of classes.
func TestHooksOfACatalog(t *testing.T) {
	c, err := catalog.Parse(json.RawMessage(`{"catalog":1,"methods":[{"name":"z","run":"json:1"},{"name":"b"},{"name":"a","run":"deny"}],"classes":[
		{"name":"C","constructor":{"name":"x","run":"jq:1"},"destructor":{"run":"jq:2"},"methods":[{"name":"m","run":"x"},{"name":"n"}],"properties":[{"name":"p","run":"deny"}]},
		{"name":"D","methods":7},{"name":"E"}]}`))
	testkit.OK(t, err)
	entries, err := FromCatalog(c)
	var got []string
	for _, e := range entries {
		got = append(got, e.Pattern+"="+string(e.Answer.Kind)+":"+e.Answer.Text)
	}
	if text := strings.Join(got, " "); err != nil || text != "z=json:1 a=deny:refused C.__init__=jq:1 C.__del__=jq:2 C.m=sh:x C.p=deny:refused" {
		t.Errorf("%q, %v", text, err)
	}
	for text, want := range map[string]string{
		`{"catalog":1,"methods":[{"name":"a","run":"jq:("}]}`:                                            "method a",
		`{"catalog":1,"methods":[],"classes":[{"name":"C","methods":[{"name":"m","run":"json:{"}]}]}`:    "method C.m",
		`{"catalog":1,"methods":[],"classes":[{"name":"C","constructor":{"name":"x","run":"json:{"}}]}`:  "method C.__init__",
		`{"catalog":1,"methods":[],"classes":[{"name":"C","destructor":{"name":"x","run":"nosuch:{"}}]}`: "method C.__del__",
	} {
		c, err := catalog.Parse(json.RawMessage(text))
		testkit.OK(t, err)
		entries, err := FromCatalog(c)
		refused(t, err, want)
		if entries != nil {
			t.Errorf("%s: %v", text, entries)
		}
	}
}

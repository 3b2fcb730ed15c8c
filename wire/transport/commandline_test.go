package transport

import (
	"reflect"
	"strings"
	"testing"

	"rpcx/wire"
)

func TestParseCommand(t *testing.T) {
	for in, want := range map[string][]string{
		"exec:./plugin --flag":            {"./plugin", "--flag"},
		"exec:  a\tb  c ":                 {"a", "b", "c"},
		`exec:sh -c 'echo "$HOME" | cat'`: {"sh", "-c", `echo "$HOME" | cat`},
		`exec:a "b c" "d\"e\\f" 'g\h'`:    {"a", "b c", `d"e\f`, `g\h`},
		`exec:a "\$x" "\n"`:               {"a", "$x", `\n`},
		`exec:a b\ c \* \'`:               {"a", "b c", "*", "'"},
		`exec:a '' ""`:                    {"a", "", ""},
		`exec:a b"c"'d'e`:                 {"a", "bcde"},
		"exec:a b\\\nc":                   {"a", "bc"},
		"exec:a --opt=X=1 k=v":            {"a", "--opt=X=1", "k=v"},
		"exec:'A=1' b":                    {"A=1", "b"},
		"exec:1a=b":                       {"1a=b"},
		"exec:a #b !c {d} [e] (f)":        {"a", "#b", "!c", "{d}", "[e]", "(f)"},
		"exec:ünï 'ß'":                    {"ünï", "ß"},
		"ipc:node child.js":               {"node", "child.js"},
		"ipc:":                            nil,
		`exec:sh -c 'it'\''s'`:            {"sh", "-c", "it's"},
	} {
		a, err := Parse(in)
		if err != nil || !reflect.DeepEqual(a.Command, want) {
			t.Errorf("Parse(%q) = %q, %v; want %q", in, a.Command, err, want)
		}
	}
}

func TestParseCommandRefuses(t *testing.T) {
	for _, c := range []struct{ in, says, hint string }{
		{"exec:", "needs a command", "exec:./plugin"},
		{"exec:  ", "needs a command", "exec:./plugin"},
		{"exec:echo $HOME", "unquoted $", "exec:sh -c 'echo $HOME'"},
		{"exec:echo `id`", "unquoted `", "exec:sh -c 'echo `id`'"},
		{"exec:ls *.go", "unquoted *", "exec:sh -c 'ls *.go'"},
		{"exec:ls ?", "unquoted ?", "exec:sh -c 'ls ?'"},
		{"exec:~/plugin", "unquoted ~", "exec:sh -c '~/plugin'"},
		{"exec:a | b", "unquoted |", "exec:sh -c 'a | b'"},
		{"exec:a && b", "unquoted &", "exec:sh -c 'a && b'"},
		{"exec:a; b", "unquoted ;", "exec:sh -c 'a; b'"},
		{"exec:a <b", "unquoted <", "exec:sh -c 'a <b'"},
		{"exec:a 2>b", "unquoted >", "exec:sh -c 'a 2>b'"},
		{"exec:FOO=1 cmd", "FOO= in front", "exec:sh -c 'FOO=1 cmd'"},
		{"exec: _x9=", "_x9= in front", "exec:sh -c _x9="},
		{`exec:echo "a $b"`, "$ inside double quotes", `exec:sh -c 'echo "a $b"'`},
		{"exec:echo \"`id`\"", "` inside double quotes", "exec:sh -c 'echo \"`id`\"'"},
		{"exec:echo 'it' $x", "unquoted $", `exec:sh -c 'echo '\''it'\'' $x'`},
		{"ipc:node $x", "unquoted $", "ipc:sh -c 'node $x'"},
		{"exec:a 'b", "inside quotes", ""},
		{`exec:a "b`, "inside quotes", ""},
		{`exec:a "b\`, "inside quotes", ""},
		{`exec:a b\`, "after a backslash", ""},
		{`exec:'' b`, "first word is empty", ""},
	} {
		_, err := Parse(c.in)
		f := wire.AsFault(err)
		switch {
		case f == nil || f.Kind != wire.Usage:
			t.Errorf("Parse(%q): %v, want a usage fault", c.in, err)
		case !strings.Contains(f.Message, c.says) || !strings.HasPrefix(f.Hint, c.hint):
			t.Errorf("Parse(%q): %q, hint %q; want %q and %q", c.in, f.Message, f.Hint, c.says, c.hint)
		}
		if strings.Contains(c.hint, "sh -c") {
			if a, err := Parse(f.Hint); err != nil || a.Command[2] != strings.TrimSpace(c.in[strings.Index(c.in, ":")+1:]) {
				t.Errorf("the hint %q does not contain the command: %q, %v", f.Hint, a.Command, err)
			}
		}
	}
}

package options

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/peer"
)

// TestHeaders checks that --header accepts a line or a file of lines, and refuses values that could end a header early.
func TestHeaders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("X-One: 1\r\n\nx-two:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := readHeaders([]string{"A: b: c", "@" + file, "!#$%&'*+-.^_`|~9: \xe9\u00e9\tx\t"})
	if err != nil || h.Get("A") != "b: c" || h.Get("!#$%&'*+-.^_`|~9") != "\xe9\u00e9\tx" || h.Get("X-One") != "1" || h.Get("X-Two") != "2" {
		t.Errorf("%v, %v", h, err)
	}
	for _, bad := range []string{"no colon", ": value", "a b: c", "A: b\nC: d", "A: b\n", "A: \x00", "A: b\x01c", "A: b\x7fc", "A@b: c", "\u00e4: c"} {
		if _, err := readHeaders([]string{bad}); wire.AsFault(err) == nil {
			t.Errorf("%q is accepted as a header", bad)
		}
	}
}

// TestVariables checks that --arg and --argjson set variables with valid jq names.
func TestVariables(t *testing.T) {
	o := &Output{args: []string{"a=x=y"}, jsonArgs: []string{`b={"n":1.10}`}}
	vars, err := o.vars()
	if err != nil || string(vars["a"]) != `"x=y"` || string(vars["b"]) != `{"n":1.10}` {
		t.Errorf("%s, %v", vars, err)
	}
	for _, o := range []*Output{{args: []string{"1a=x"}}, {args: []string{"=x"}}, {jsonArgs: []string{"b={"}}} {
		if _, err := o.vars(); wire.AsFault(err) == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// TestFunctionsNeedHooks checks that a parameter with a function requires a local hook.
func TestFunctionsNeedHooks(t *testing.T) {
	h := &Hooks{On: []string{"known=json:1"}, Functions: map[string]bool{"known": true}}
	entries, err := h.Entries()
	if err != nil || h.checkFunctions(entries) != nil {
		t.Error(err, h.checkFunctions(entries))
	}
	h.Functions["unknown"] = true
	if f := wire.AsFault(h.checkFunctions(entries)); f == nil || f.Message != `no hook is called "unknown"` {
		t.Error(f)
	}
}

// TestToken checks that a token comes from a file, never from the command line.
func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readSecret("--token", "@"+file); got != "secret" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := readSecret("--token", ""); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"secret", "@" + os.DevNull, "@" + file + ".gone"} {
		if _, err := readSecret("--token", bad); wire.AsFault(err) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// A peer can cause any number of different warnings. rpcx prints the first 200, each once, and a note that it hides the others.
func TestWarningsAboutAPeerAreBounded(t *testing.T) {
	var stderr bytes.Buffer
	run := &env.Env{Console: format.NewConsole(&stderr, format.ConsoleOptions{})}
	note := noter(run)
	for n := range 300 {
		for range 2 {
			note(peer.Note{Kind: peer.NoteMalformed, Text: fmt.Sprintf("odd message %d", n)}, "")
		}
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if last := lines[len(lines)-1]; len(lines) != 201 || !strings.Contains(last, "-v shows the rest") {
		t.Errorf("%d lines, the last is %s", len(lines), last)
	}
}

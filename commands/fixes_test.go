package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// runFix is the script command `runfix STATUS[/STATUS] PROGRAM ARGS…`. The program must fail with the first status and print the
// failure, with a fix, as one line of JSON on stderr. runFix runs the fix, which must succeed or, with a second status given, fail
// with that status for another reason. The script sees the output of the fix.
func runFix(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: runfix STATUS[/STATUS] PROGRAM ARGS...")
	}
	run := func(want string, command []string) {
		if got := strconv.Itoa(statusOf(ts, command...)); got != want {
			ts.Fatalf("status %s, want %s", got, want)
		}
	}
	first, then, fails := strings.Cut(args[0], "/")
	tried := ts.Getenv(triedFixes)
	ts.Setenv("RPCX_ERRORS", "json")
	ts.Setenv(triedFixes, "")
	run(first, args[1:])
	ts.Setenv("RPCX_ERRORS", "")
	ts.Setenv(triedFixes, tried)
	lines := bytes.Split(bytes.TrimSpace([]byte(ts.ReadFile("stderr"))), []byte("\n"))
	var said struct {
		Error struct {
			Message string   `json:"message"`
			Fix     []string `json:"fix"`
		} `json:"error"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &said); err != nil || len(said.Error.Fix) == 0 {
		ts.Fatalf("no command is proposed: %s", lines[len(lines)-1])
	}
	ts.Logf("fix: %q", said.Error.Fix)
	if !fails {
		then = "0"
	}
	run(then, said.Error.Fix)
	if fails && strings.Contains(ts.ReadFile("stderr"), said.Error.Message) {
		ts.Fatalf("the fix fails for the same reason: %s", said.Error.Message)
	}
}

// triedFixes is an environment variable. In scripts, rpcx runs each fix and appends the outcome to the file that the variable
// names. A script that unsets it gives the reason.
const triedFixes = "RPCX_TEST_FIXES"

// A triedFix is the fix of a failure and its outcome.
type triedFix struct {
	Words, Fix    []string
	Message, Then string
	Same          bool // printed nothing, and failed with the same message
}

// tryFix runs the fix of o at once, in the same directory. A fix that runs for three seconds is interrupted.
func tryFix(o Outcome) {
	file := os.Getenv(triedFixes)
	if file == "" || o.fault == nil || len(o.fault.Fix) == 0 || o.fault.Fix[1] == "session" { // a fix that closes a session would break the script
		return
	}
	limit := 3 * time.Second
	for _, word := range o.fault.Fix {
		if own, ok := strings.CutPrefix(word, "--timeout="); ok && o.fault.Kind == wire.Timeout { // the fix fails at its own limit
			d, _ := time.ParseDuration(own)
			limit += d
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "rpcx", o.fault.Fix[1:]...)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 3*time.Second
	cmd.Env = append(os.Environ(), triedFixes+"=", "RPCX_ERRORS=json")
	if strings.Contains(strings.Join(o.fault.Fix, " "), " --session=") { // in a directory of its own, because the script may have a session of that name
		own, err := os.MkdirTemp("", "s")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(own)
		cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+own)
		defer func() {
			end := exec.Command("rpcx", "session", "close", "--all")
			end.Env = cmd.Env
			_ = end.Run()
		}()
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	message, _ := json.Marshal(o.fault.Error())
	tried := triedFix{Words: os.Args, Fix: o.fault.Fix, Message: o.fault.Error(), Then: "success"}
	if err != nil {
		tried.Then = err.Error() + ": " + stderr.String()
		tried.Same = ctx.Err() == nil && stdout.Len() == 0 && bytes.Contains(stderr.Bytes(), bytes.Trim(message, `"`))
	}
	line, _ := json.Marshal(tried)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}

// checkFixes fails for each fix of a script that failed for the same reason.
func checkFixes(t *testing.T, file string) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for line := range bytes.Lines(b) {
		var tried triedFix
		testkit.OK(t, errors.Join(err, json.Unmarshal(line, &tried)))
		t.Logf("%s: %q proposes %q: %s", filepath.Base(file), tried.Words, tried.Fix, tried.Then)
		if tried.Same {
			t.Errorf("%s: %q proposes %q, which fails for the same reason: %s", filepath.Base(file), tried.Words, tried.Fix, tried.Message)
		}
	}
}

// fixes maps each function that makes a fix to a script and to a line in it that runs such a fix.
var fixes = map[string]struct{ script, line string }{
	"commands catalogOf":              {"net-find", "runfix 1 rpcx describe"},
	"commands showMethod":             {"out-fixes-run", "runfix 2 rpcx describe demo:orders zzzz"},
	"commands/dialects advise":        {"introspect-guidance", "runfix 1/1 rpcx call demo:introspect storage_tree_destory"},
	"commands/dialects Explain":       {"introspect-fixes", "runfix 1 rpcx call demo:introspect storage_tre_create"},
	"commands/env Explain":            {"auth-fixes", "runfix 6 rpcx call $AT whoami"},
	"commands/env withAlternative":    {"net-signs", "runfix 5 rpcx call 'exec:scriptedpeer seq.peer'"},
	"commands/help answer":            {"out-fixes-run", "runfix 2 rpcx help cal"},
	"commands check":                  {"out-fixes-run", "runfix 2 rpcx job start"},
	"commands/options compares":       {"out-fixes-run", "runfix 2 rpcx call demo:orders getOrder id=o_001 --expect "},
	"commands/plugin suggest":         {"out-fixes-run", "runfix 1 rpcx plugin call"},
	"commands/plugin noSession":       {"out-fixes-run", "runfix 2 rpcx plugin method"},
	"commands/request SameVersion":    {"session-faults", "runfix 9 rpcx call @old"},
	"commands/suggest Endpoint":       {"messages", "runfix 2 rpcx call getOrder demo:orders"},
	"commands/suggest values":         {"messages", "runfix 1 rpcx call tcp://$AT list limit=1"},
	"commands/cmdline unknown":        {"messages", "runfix 2 rpcx call demo:orders getOrder --id o_001"},
	"commands/suggest exact":          {"out-fixes-run", "runfix 1 rpcx call demo:orders getOrdr"},
	"commands/suggest Job":            {"page-mcp-tasks", "runfix 1 rpcx call"},
	"commands/cmdline unknownCommand": {"out-fixes-run", "runfix 2 rpcx demo:orders getOrder"},
	"commands/options suggestHook":    {"out-fixes-run", "runfix 2 rpcx call demo:orders approveOrder id=o_003 --on"},
	"commands/suggest CheckMethod":    {"out-fixes-run", "runfix 2 rpcx call demo:orders '{"},
	"commands/suggest methodWord":     {"out-fixes-run", "runfix 1 rpcx call demo:orders 'getOrder id=o_001'"},
	"commands/suggest Params":         {"out-fixes-run", "runfix 2 rpcx call demo:orders getOrder id:=o_001"},
	"commands/request warnUnhandled":  {"cli-untaken", "runfix 7 rpcx subscribe"},
}

// TestFixesAreRun checks that a script runs a fix of each function that makes fixes.
func TestFixesAreRun(t *testing.T) {
	places := map[string]bool{}
	for _, name := range programFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), "../"+name, nil, parser.SkipObjectResolution)
		testkit.OK(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && proposes(f) {
				places[path.Dir(name)+" "+f.Name.Name] = true
			}
		}
	}
	for place, by := range fixes {
		b, err := os.ReadFile("testdata/script/" + by.script + ".txtar")
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(place, "commands/dialects ") {
			delete(places, place) // removed with its dialect
			continue
		}
		if err != nil || !bytes.Contains(b, []byte("\n"+by.line)) && !bytes.Contains(b, []byte("[unix] "+by.line)) {
			t.Errorf("%s: %s does not run %q (%v)", place, by.script, by.line, err)
		}
		if !places[place] {
			t.Errorf("%s proposes no command", place)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if _, ok := fixes[place]; !ok {
			t.Errorf("%s proposes a command that no script runs", place)
		}
	}
}

// proposes reports whether f sets the field Fix, or calls WithFix, other than to copy a fix.
func proposes(f *ast.FuncDecl) (found bool) {
	isFix := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Fix"
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				found = found || isFix(l) && !isFix(n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && s.Sel.Name == "WithFix"
		case *ast.CompositeLit:
			if s, ok := n.Type.(*ast.SelectorExpr); !ok || s.Sel.Name != "Fault" {
				break
			}
			for _, e := range n.Elts {
				kv := e.(*ast.KeyValueExpr)
				found = found || kv.Key.(*ast.Ident).Name == "Fix" && !isFix(kv.Value)
			}
		}
		return true
	})
	return found && f.Name.Name != "WithFix"
}

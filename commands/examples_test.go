package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"rpcx/commands/cmdline"
	"rpcx/commands/help"
	"rpcx/wire/testkit"
)

// exampleFiles are shell commands that create what an example needs: a file, a session, a program. They run, in this order, before
// each example that contains the word.
var exampleFiles = []struct{ word, make string }{
	{"api.json", "rpcx describe demo:orders >api.json"},
	{"orders.tape", "rpcx call demo:orders getOrder id=o_001 --record orders.tape >/dev/null"},
	{"tests/", "mkdir tests; rpcx call demo:orders getOrder id=o_001 --record tests/order.tape >/dev/null"},
	{"old.tape", "rpcx call demo:orders getOrder id=o_001 --record old.tape >/dev/null; cp old.tape new.tape"},
	{"orders.ndjson", `echo '{"id":"o_001"}' >orders.ndjson; echo '{"type":"object"}' >order.schema.json`},
	{"./server", program("server", "exec rpcx serve stdio: --to demo:orders")},
	{"./plugin", program("plugin", `exec rpcx plugin serve --on 'Config.new=json:{}' --on 'Config.get=json:"blue"'`)},
	{"./methods", "mkdir methods; " + program("methods/add", "echo 3")},
	{"./client-test", program("client-test", "exec rpcx call @ add 1 2")},
	{"./test.sh", program("test.sh", "rpcx call @ x; true")},
	{"tape:order.tape", orderTape},
	{"replay order.tape", orderTape},
	{"messages.ndjson", "echo '{\"id\":1,\"method\":\"x\"}' >messages.ndjson"},
	{"answer.json", "echo true >answer.json"},
	{"steps.ndjson", `echo '{"as":"c","new":"Config"}' >steps.ndjson`},
	{"plugin.json", `echo '{"catalog":1,"methods":[{"name":"greet","run":"json:1"}]}' >plugin.json`},
	{"report.js", "echo 1 >report.js"},
	{"job status @work", startedJob},
	{"job wait @work", startedJob},
	{`cancel @host "$job"`, "rpcx connect demo:hotrepl --session host; export job=$(rpcx job start @host archive.export -r -q .job)"},
	{"start @work archive.export -r", "rpcx connect demo:hotrepl --session work"},
	{"session status work", workSession},
	{"session log work", workSession},
	{"session close work", workSession},
	{"call @work getOrder", workSession},
	{"next work", askedSession},
	{"reply work 1", askedSession + "; rpcx session next work >/dev/null"},
	{"reject work 1", askedSession + "; rpcx session next work >/dev/null"},
	{"new @p", "rpcx connect demo:scriptling --session p"},
	{`"$object"`, "rpcx connect demo:scriptling --session p; export object=$(rpcx plugin new @p Config)"},
	{"@p 1", "rpcx connect demo:scriptling --session p; rpcx plugin new @p Config >/dev/null"},
}

const (
	orderTape   = "rpcx call demo:orders getOrder id=o_001 --record order.tape >/dev/null"
	workSession = "rpcx connect demo:orders --session work"
	startedJob  = "rpcx connect demo:hotrepl --session work; export job=$(rpcx job start @work archive.export -r -q .job)"
)

// askedSession opens a session with a call in its inbox.
const askedSession = "rpcx connect demo:orders --session work --on approve=inbox; rpcx call @work approveOrder id=o_002 >answered 2>&1 &\nwhile [ -z \"$(rpcx session status work -q .inbox)\" ]; do :; done"

// program returns the shell command that makes an executable script.
func program(name, line string) string {
	return fmt.Sprintf("cat >%s <<'END'\n#!/bin/sh\n%s\nEND\nchmod +x %s", name, line, name)
}

// realPeers matches examples that need another program. Such an example runs with an address on which nothing listens, or without
// the program, and must fail for exactly that reason (status 3 or 127).
var realPeers = regexp.MustCompile(`localhost|127\.0\.0\.1:(9222|9229|4711|1234|6640|8080/ rpc|8080/$|9000)|wss://|gopls|debugpy|langserver|@(web|dbg|go) |subscribe @work|qmp\.sock|rpcws\+`)

// otherShells matches examples for shells other than sh. complete.txtar runs these.
var otherShells = regexp.MustCompile(`^\. <\(|fish|zsh`)

// placeholders matches words that the reader replaces.
var placeholders = regexp.MustCompile(`\b(E|SERVER|HOST|METHOD|TOOL|NAME )\b?`)

// endless matches examples that run until a signal.
var endless = regexp.MustCompile(`^rpcx (serve|plugin serve|record|replay .*--listen) ?[^-]*`)

// TestExamplesRun runs each example in the help and the manual as printed.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	n := 0
	add := func(place, command string) {
		if placeholders.MatchString(command) || otherShells.MatchString(command) {
			return
		}
		n++
		name := filepath.Join(dir, fmt.Sprintf("%s-%d.txtar", strings.ReplaceAll(place, " ", "-"), n))
		testkit.OK(t, os.WriteFile(name, []byte(exampleScript(command)), 0o600))
		files = append(files, name)
	}
	Tree().Walk([]string{"rpcx"}, func(path []string, c *cmdline.Command) {
		for _, e := range c.Examples {
			add(strings.Join(path, " "), e.Command)
		}
	})
	for _, topic := range help.Topics() {
		for _, part := range help.Parts(topic.Text) {
			if part.Kind != help.Verbatim {
				continue
			}
			for _, line := range strings.Split(strings.ReplaceAll(strings.Join(part.Lines, "\n"), "\\\n", ""), "\n") {
				if line, ok := strings.CutPrefix(strings.TrimPrefix(line, "$ "), "rpcx "); ok {
					add("topic "+topic.Name, "rpcx "+line)
				}
			}
		}
	}
	if len(files) < 70 {
		t.Errorf("only %d examples were found", len(files))
	}
	slices.Sort(files)
	var some []string
	for i, file := range files {
		if testkit.Sampled(i) {
			some = append(some, file)
		}
	}
	testscript.Run(t, testscript.Params{
		Files: some, Cmds: scriptCommands, RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			run := filepath.Join(env.WorkDir, "run")
			env.Setenv("XDG_RUNTIME_DIR", run)
			env.Setenv("HOME", env.WorkDir)
			env.Defer(func() { nothingLeft(t, env.WorkDir) })
			return os.MkdirAll(run, 0o700)
		},
	})
}

// exampleScript returns the script that runs an example.
func exampleScript(command string) string {
	var before strings.Builder
	for _, f := range exampleFiles {
		if strings.Contains(command, f.word) {
			before.WriteString(f.make + "\n")
		}
	}
	after, statuses := "", "0"
	switch {
	case endless.MatchString(command) && !strings.Contains(command, " -- ") && !strings.Contains(command, "stdio:"):
		command = strings.ReplaceAll(strings.ReplaceAll(command, ":8080/", ":0/"), "/tmp/", "./")
		command, after = "("+strings.Replace(command, "rpcx ", "exec rpcx ", 1)+") >listening &", "wait-for -s listening\nkill -INT $!\nwait $!\n"
		statuses = "130"
	case realPeers.MatchString(command) && !strings.Contains(command, "--dry-run"):
		command = strings.TrimSuffix(command, " &")
		command = regexp.MustCompile(`(localhost|127\.0\.0\.1):[1-9][0-9]*|[a-z]+\.example`).ReplaceAllString(command, "127.0.0.1:1")
		command = regexp.MustCompile(`gopls|langserver|python3 -m debugpy.adapter`).ReplaceAllString(command, "./missing")
		statuses = "3 127"
	}
	return fmt.Sprintf(`[!unix] skip 'examples are for a shell'
exec sh run.sh
-- run.sh --
%s
cat >example.sh <<'END_OF_EXAMPLE'
%s
END_OF_EXAMPLE
%s
status=$?
rpcx session close --all >/dev/null 2>&1
case " %s " in *" $status "*) ;; *) echo "status $status, expected %s: $(cat example.sh)" >&2; exit 1 ;; esac
`, before.String(), command, runExample(command, after), statuses, statuses)
}

// runExample returns the shell commands that run example.sh.
func runExample(command, after string) string {
	if after != "" {
		return command + "\n" + strings.TrimSuffix(after, "\n")
	}
	return "sh -e example.sh </dev/null"
}

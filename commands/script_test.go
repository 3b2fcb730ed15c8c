package commands

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/testkit"
)

// The scripts in testdata/script run the real program as a user would. In addition to testscript's commands, they can use:
//
//	status N PROGRAM ARGS…   runs the program, which must exit with status N
//	runfix N PROGRAM ARGS…   the same, and runs the fix, which must succeed (fixes_test.go)
//	streams FILE PROGRAM …   runs the program with FILE, with a pipe and with - in its place (files_test.go)
//	transcript FILE          runs the commands in FILE and compares their output with FILE (transcript_test.go)
//	await FILE [TEXT]        waits until FILE exists and contains TEXT; in hooks and programs, this is
//	                         wait-for FILE [TEXT], or wait-for -s FILE to wait for a whole line
//	absent PATTERN           waits until no process in the script's directory has PATTERN
//	                         in its command line
//	certs                    writes ca.pem and certificates for server and client
//	peer …                   a scripted peer (scriptedpeer_test.go)
//	proxy …                  a proxy (proxy_test.go)
//	oauth FILE OPTION…       an authorization server and the endpoint that it protects (authserver_test.go)
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"status": exitStatusIs, "streams": streams, "await": await, "absent": absent, "certs": certs, "peer": peerCommand, "proxy": proxy, "runfix": runFix,
	"transcript": transcript, "oauth": oauthCommand, "oauth-keys": oauthKeysCommand, "oauth-forget": oauthForgetCommand, "oauth-stop": oauthStopCommand,
}

func TestMain(m *testing.M) {
	// Scripts mostly wait for their processes, but use more processor time under the race detector.
	each := 6
	if slices.Contains(os.Args, "-test.short=true") { // nothing else runs then
		each = 10
	}
	if testkit.Race {
		each = 4
	}
	if err := flag.Set("test.parallel", strconv.Itoa(each*runtime.NumCPU())); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"rpcx": func() {
			o := Main(os.Args)
			if withoutLeaks(o.Status) != o.Status {
				os.Exit(99)
			}
			tryFix(o)
			o.Exit()
		},
		"scriptedpeer": peerProgram,
		"wait-for":     awaitProgram,
		"panics":       panics,
		"browser":      browserProgram,
	})
}

// panics is a program that panics in a goroutine, and reports the panic as rpcx does.
func panics() {
	a := &env.Env{}
	a.Detect(os.Args[1:])
	a.Common.Verbose = slices.Contains(os.Args, "-v")
	wire.OnDefect(a.Defect)
	go func() {
		defer wire.Guard()
		panic("out of luck")
	}()
	select {}
}

// withoutLeaks returns status if all goroutines have ended, except those that cannot be woken because they wait for stdin, for keys,
// or for a reader of stdout.
func withoutLeaks(status int) int {
	var err error
	for end := time.Now().Add(patience / 2); time.Now().Before(end); {
		err = goleak.Find(
			goleak.IgnoreAnyFunction("rpcx/commands/env.readAll"),
			goleak.IgnoreAnyFunction("rpcx/commands/env.(*Signals).receive"),
			goleak.IgnoreAnyFunction("rpcx/commands/env/output.(*boundedWriter).Write.func1"),
			goleak.IgnoreAnyFunction("rpcx/commands/prompt.(*prompt).listen"),
			goleak.IgnoreAnyFunction("rpcx/format.AskSecret.func2"),
			goleak.IgnoreAnyFunction("rpcx/commands/prompt.(*prompt).listen.func1"),
			goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"), // it takes half a second to end
		)
		if err == nil {
			return status
		}
	}
	fmt.Fprintln(os.Stderr, "rpcx goes, and leaves behind:", err)
	return 99
}

// plainScripts matches the scripts about texts, flags and files, which TestScripts does not run under the race detector. Each of
// their processes makes at most one call, so the detector would find nothing that it does not find in the other scripts.
var plainScripts = regexp.MustCompile(`/((.+-)?(help|readme|said|screen|words|fixes|advice|typing|guidance)|(help|readme|params|profiles)-.*|profiles|` +
	`said-(code|each|found|full|odd|requests|tapes)|cli-(dry-run|files|flags|marks|method|promises|send|untaken)|out-(decode|errors.*|fixes-run|lines|secrets.*)|` +
	`complete|exit-status|usage|messages|describe-catalog|promise-(catalog|config|output)|validate-(page|tapes|values|verdicts|versions)|tape-show)\.txtar$`)

// longScripts matches the scripts that take longest. They start first, so that none of them is still running when all others have ended.
var longScripts = regexp.MustCompile(`/(said-(each|found|full)|net-(find|probe.*|signs)|cli-(files|untaken|waiting)|describe-catalog|` +
	`page-mcp-tasks|frame-sizes|auth-clients|promise-connect|plugin-odd|reconnect|replay-client|ro-async|serve-limits|cli-subscribe)\.txtar$`)

// scriptsToRun returns the scripts that TestScripts runs: all of them, or under the race detector all but plainScripts. With
// RPCX_TEST_UNRACED in the environment, it returns only plainScripts.
func scriptsToRun(t *testing.T, raced bool) []string {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) < 300 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	slices.SortStableFunc(files, func(a, b string) int {
		switch long := longScripts.MatchString(a); {
		case long == longScripts.MatchString(b):
			return 0
		case long:
			return -1
		}
		return 1
	})
	if os.Getenv("RPCX_TEST_UNRACED") != "" {
		return slices.DeleteFunc(files, func(f string) bool { return !plainScripts.MatchString(f) })
	}
	if raced {
		return slices.DeleteFunc(files, plainScripts.MatchString)
	}
	return files
}

func TestScripts(t *testing.T) {
	t.Parallel()
	hooks, err := filepath.Abs("../scripts/hooks")
	testkit.OK(t, err)
	shared, err := filepath.Abs("testdata/shared")
	testkit.OK(t, err)
	fixes := t.TempDir()
	params := testscript.Params{
		Files:               scriptsToRun(t, testkit.Race),
		Cmds:                scriptCommands,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			run := filepath.Join(env.WorkDir, "run")
			env.Setenv("XDG_RUNTIME_DIR", run)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each process takes a second longer under -race
			env.Setenv("HOOKS", hooks)
			env.Setenv("SHARED", shared)
			tried := filepath.Join(fixes, filepath.Base(env.WorkDir))
			env.Setenv(triedFixes, tried)
			env.Defer(func() { nothingLeft(t, env.WorkDir) })
			env.Defer(func() { checkFixes(t, tried) })
			return os.MkdirAll(run, 0o700)
		},
	}
	testscript.Run(t, params)
}

// nothingLeft checks that a script leaves no process, socket or temporary file behind.
func nothingLeft(t *testing.T, dir string) {
	var found string
	for end := time.Now().Add(patience / 2); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if found = leftIn(dir); found == "" {
			return
		}
	}
	t.Errorf("%s has left behind %s", filepath.Base(dir), found)
}

// leftIn returns a process that works in dir, or a file in the directories for sockets and temporary files.
func leftIn(dir string) string {
	if line := processWith("", dir); line != "" && runtime.GOOS == "linux" {
		return "the process " + line
	}
	for _, place := range []string{"run/rpcx/*", ".tmp/rpcx*"} {
		if left, _ := filepath.Glob(filepath.Join(dir, place)); len(left) > 0 {
			return left[0]
		}
	}
	return ""
}

func exitStatusIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARGS...")
	}
	if got := statusOf(ts, args[1:]...); strconv.Itoa(got) != args[0] {
		ts.Fatalf("status %d, want %s", got, args[0])
	}
}

// statusOf runs a program and returns its exit status as a shell reports it.
func statusOf(ts *testscript.TestScript, words ...string) int {
	var exit *exec.ExitError
	err := ts.Exec(words[0], words[1:]...)
	if errors.As(err, &exit) {
		return shellStatus(exit.ProcessState)
	}
	ts.Check(err)
	return 0
}

// shellStatus returns a process's exit status as a shell reports it: after a signal, 128 plus its number.
func shellStatus(p *os.ProcessState) int {
	if ws, ok := p.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.ExitCode()
}

const patience = 45 * time.Second

func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: await FILE [TEXT]")
	}
	if text := strings.Join(args[1:], " "); !fileHas(ts.MkAbs(args[0]), text) {
		ts.Fatalf("%s did not contain %q within %v", args[0], text, patience)
	}
}

// awaitProgram is the program wait-for, which hooks and programs of scripts run. With -s, FILE must contain a whole line.
func awaitProgram() {
	args, some := os.Args[1:], false
	if len(args) > 0 && args[0] == "-s" {
		args, some = args[1:], true
	}
	if len(args) == 0 || !fileHas(args[0], strings.Join(args[1:], " ")) || some && !fileHas(args[0], "\n") {
		os.Exit(1)
	}
}

// fileHas waits until a file exists and contains text.
func fileHas(file, text string) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), text) {
			return true
		} else if _, serr := os.Stat(file); serr == nil && text == "" {
			return true
		}
	}
	return false
}

func absent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: absent PATTERN")
	}
	var found string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if found = processWith(args[0], ts.Getenv("WORK")); found == "" {
			return
		}
	}
	ts.Fatalf("still running: %s", found)
}

// processWith returns the command line of a process that matches pattern and works in dir. Without /proc, it uses ps and ignores dir.
func processWith(pattern, dir string) string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		cwd, _ := os.Readlink(filepath.Join(filepath.Dir(f), "cwd"))
		line := strings.ReplaceAll(string(b), "\x00", " ")
		if strings.Contains(line, pattern) && (dir == "" || strings.HasPrefix(cwd+"/", strings.TrimSuffix(dir, "/")+"/")) {
			return line
		}
	}
	if len(files) > 0 {
		return ""
	}
	b, _ := exec.Command("ps", "-axo", "command").Output()
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, pattern) {
			return line
		}
	}
	return ""
}

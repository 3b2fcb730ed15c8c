package commands

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// runFix is the command `runfix STATUS PROGRAM ARGS…` of scripts: the program must fail
// with that status and propose a command, as one line of JSON on stderr. That command is
// run and must succeed; what it printed is what stdout and stderr are then matched
// against.
func runFix(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: runfix STATUS PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Setenv("RPCX_ERRORS", "json")
	err = ts.Exec(args[1], args[2:]...)
	ts.Setenv("RPCX_ERRORS", "")
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = shellStatus(exit.ProcessState)
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
	lines := bytes.Split(bytes.TrimSpace([]byte(ts.ReadFile("stderr"))), []byte("\n"))
	var said struct {
		Error struct {
			Fix []string `json:"fix"`
		} `json:"error"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &said); err != nil || len(said.Error.Fix) == 0 {
		ts.Fatalf("no command is proposed: %s", lines[len(lines)-1])
	}
	ts.Logf("fix: %q", said.Error.Fix)
	ts.Check(ts.Exec(said.Error.Fix[0], said.Error.Fix[1:]...))
}

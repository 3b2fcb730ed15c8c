package commands

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// transcript is the command `transcript FILE` of scripts. FILE is what was typed and what came of it, to the last
// character, in lines of these kinds; others, which say what it is about, stay as they are:
//
//	$ WORDS   a command line for sh
//	> TEXT    a line of its stdout
//	! TEXT    a line of its stderr
//	= N       its status, where that is not 0
//
// $WORK stands for the script's folder in what is printed.
func transcript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: transcript FILE")
	}
	want := ts.ReadFile(args[0])
	var got strings.Builder
	for line := range strings.Lines(want) {
		switch kind, _, _ := strings.Cut(line, " "); kind {
		case ">", "!", "=":
			continue
		}
		got.WriteString(line)
		if typed, ok := strings.CutPrefix(line, "$ "); ok {
			got.WriteString(comesOf(ts, typed))
		}
	}
	if got.String() != want {
		ts.Fatalf("%s is now\n%s<<<", args[0], got.String())
	}
}

// comesOf runs a command line and returns its lines of a transcript.
func comesOf(ts *testscript.TestScript, typed string) string {
	status := 0
	var exit *exec.ExitError
	if err := ts.Exec("sh", "-c", typed); errors.As(err, &exit) {
		status = shellStatus(exit.ProcessState)
	} else {
		ts.Check(err)
	}
	var b strings.Builder
	for _, of := range []struct{ mark, name string }{{">", "stdout"}, {"!", "stderr"}} {
		for line := range strings.Lines(strings.ReplaceAll(ts.ReadFile(of.name), ts.Getenv("WORK"), "$WORK")) {
			b.WriteString(of.mark + " " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	if status != 0 {
		fmt.Fprintf(&b, "= %d\n", status)
	}
	return b.String()
}

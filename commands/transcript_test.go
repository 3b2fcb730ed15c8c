package commands

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// transcript is the script command `transcript FILE`. FILE contains command lines and their outcomes, in these kinds of lines:
//
//	$ WORDS ## N WORD ; WORD   a command line for sh, its status, and words in its stderr; without ##, the
//	                           status must be 0 and stderr empty
//	> TEXT                     a line of stdout
//	% WORDS                    a command line for sh on a terminal of 80 columns
//	| TEXT                     a line of output on the terminal, with ␛ for each escape character (linux)
//	= N                        the status of a command on the terminal, if it is not 0
//
// Other lines have no effect. In the output, $WORK is the script's directory. With UPDATE=1 in the environment, the current
// output is written to the script's file. The words in stderr are written by hand.
func transcript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: transcript FILE")
	}
	want := ts.ReadFile(args[0])
	var got strings.Builder
	for line := range strings.Lines(want) {
		switch kind, _, _ := strings.Cut(line, " "); kind {
		case ">", "|", "=":
			continue
		}
		got.WriteString(line)
		if typed, ok := strings.CutPrefix(line, "$ "); ok {
			got.WriteString(outcomeOf(ts, strings.TrimSuffix(typed, "\n")))
		}
		if typed, ok := strings.CutPrefix(line, "% "); ok {
			shown, status, err := onScreen(typed, ts.Getenv)
			ts.Check(err)
			got.WriteString(marked(ts, "|", strings.NewReplacer("\r\n", "\n", "\r", "␍", "\x1b", "␛").Replace(shown)) + ofStatus(status))
		}
	}
	switch {
	case got.String() == want:
	case os.Getenv("UPDATE") != "":
		ts.Check(rewrite(filepath.Join("testdata", "script", ts.Name()+".txtar"), args[0], got.String()))
	default:
		ts.Fatalf("%s is now\n%s<<<", args[0], got.String())
	}
}

// rewrite replaces the text of a file in a script.
func rewrite(script, name, text string) error {
	all, err := txtar.ParseFile(script)
	if err != nil {
		return err
	}
	for i := range all.Files {
		if all.Files[i].Name == name {
			all.Files[i].Data = []byte(text)
		}
	}
	return os.WriteFile(script, txtar.Format(all), 0o644)
}

// outcomeOf runs a command line, checks the status and the words in stderr, and returns stdout as lines of a transcript.
func outcomeOf(ts *testscript.TestScript, line string) string {
	typed, want, _ := strings.Cut(line, " ## ")
	status := statusOf(ts, "sh", "-c", typed)
	wanted, words, _ := strings.Cut(want, " ")
	said := strings.ReplaceAll(ts.ReadFile("stderr"), ts.Getenv("WORK"), "$WORK")
	missing := words == "" && said != ""
	for word := range strings.SplitSeq(words, " ; ") {
		missing = missing || !strings.Contains(said, word)
	}
	if missing || fmt.Sprint(status) != cmp.Or(wanted, "0") {
		ts.Fatalf("%s\n%d %s", line, status, said)
	}
	return marked(ts, ">", ts.ReadFile("stdout"))
}

// marked returns the output with a mark before each line.
func marked(ts *testscript.TestScript, mark, printed string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(printed, ts.Getenv("WORK"), "$WORK")) {
		b.WriteString(mark + " " + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

func ofStatus(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf("= %d\n", status)
}

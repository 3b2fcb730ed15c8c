package commands

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"

	"rpcx/commands/cmdline"
)

// While code is moved, testdata/snapshot holds for each script what every command
// of it printed and its status, but for times, ports, ids and paths. Only a command
// that stands in both counts, so a script may gain and lose lines. scripts/snapshot
// compares; no plain go test does, as much of it depends on who was faster.
var snapshot = flag.String("snapshot", "", "testdata/snapshot: compare with it, update it, or mark what differs as something that can vary")

// recorded runs scripts and compares their logs with the snapshot.
type recorded struct{ *testing.T }

func (r recorded) Run(name string, f func(testscript.T)) {
	r.T.Run(name, func(t *testing.T) { f(recorded{t}) })
}

// Verbose has testscript keep the output of what succeeded.
func (recorded) Verbose() bool { return true }

func (r recorded) Log(args ...any) {
	log := fmt.Sprint(args...)
	if at := strings.LastIndex(log, "\n# "); at >= 0 && r.Failed() && !testing.Verbose() {
		r.T.Log(log[at+1:])
	} else if r.Failed() || testing.Verbose() {
		r.T.Log(log)
	}
	if !r.Failed() {
		compareSnapshot(r.T, filepath.Base(r.Name()), entries(log))
	}
}

// entry is one command of a script and what it printed.
type entry struct{ name, output string }

const varies = "(varies)\n"

// entries splits the log of a script at its commands; the n-th of the same words
// has that number.
func entries(log string) []entry {
	var all []entry
	seen := map[string]int{}
	for line := range strings.Lines(plain(log)) {
		switch {
		case strings.HasPrefix(line, "# "), line == "#\n", line == "PASS\n":
		case strings.HasPrefix(line, "> ") && !strings.HasPrefix(line, "> DURATION"), strings.HasPrefix(line, "[background] "):
			head := strings.TrimSuffix(line, "\n")
			if at := strings.LastIndex(head, ": "); head[0] == '[' && at > 0 {
				head = head[:at]
			}
			seen[head]++
			all = append(all, entry{fmt.Sprintf("%s\t%d", head, seen[head]), ""})
			if head[0] == '[' {
				all[len(all)-1].output = line
			}
		case len(all) > 0:
			all[len(all)-1].output += line
		}
	}
	return all
}

// plain is log without what no two runs have in common.
func plain(log string) string {
	for _, r := range normal {
		log = r.what.ReplaceAllString(log, r.by)
	}
	return log
}

var normal = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`((?:127\.0\.0\.1|localhost|\[::1?\]|0\.0\.0\.0):)[1-9]\d{3,4}\b`), "${1}PORT"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?`), "TIME"},
	{regexp.MustCompile(`\b\d+\.\d+ ?(ms|s|µs)\b`), "DURATION"},
	{regexp.MustCompile(`\b\d+ ?(ms|µs)\b`), "DURATION"},
	{regexp.MustCompile(`\b(process|pid|PID) "?\d+`), "$1 PID"},
	{regexp.MustCompile(`"pid":\d+`), `"pid":PID`},
	{regexp.MustCompile(`\bgo1\.\d+(\.\d+)?\b`), "GO"},
}

func compareSnapshot(t *testing.T, name string, got []entry) {
	t.Helper()
	file := filepath.Join("testdata", "snapshot", name+".gz")
	old, err := readSnapshot(file)
	switch {
	case *snapshot == "update":
		writeSnapshot(t, file, got)
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		t.Fatal(err)
	default:
		compareEntries(t, file, old, got)
	}
}

func compareEntries(t *testing.T, file string, old, got []entry) {
	t.Helper()
	now := map[string]string{}
	for _, e := range got {
		now[e.name] = e.output
	}
	for i, e := range old {
		output, there := now[e.name]
		switch {
		case !there, e.output == varies, output == e.output:
		case *snapshot == "vary":
			t.Logf("varies: %s", e.name)
			old[i].output = varies
		default:
			t.Errorf("the output of a command is not that of %s:\n%s\n%s", file, e.name,
				diff.Diff("before", []byte(e.output), "now", []byte(output)))
		}
	}
	if *snapshot == "vary" {
		writeSnapshot(t, file, old)
	}
}

// The entries of a file are separated by form feeds.
func readSnapshot(file string) ([]entry, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	var all []entry
	for part := range strings.SplitSeq(strings.TrimSuffix(string(b), "\f"), "\f") {
		name, output, _ := strings.Cut(part, "\n")
		all = append(all, entry{name, output})
	}
	return all, nil
}

func writeSnapshot(t *testing.T, file string, all []entry) {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	for _, e := range all {
		fmt.Fprintf(z, "%s\n%s\f", e.name, e.output)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSnapshot compares every help text, the manual page and the completions.
func TestSnapshot(t *testing.T) {
	if *snapshot == "" {
		t.Skip("asked for by scripts/snapshot")
	}
	var all []entry
	var help func(d cmdline.Doc, words ...string)
	help = func(d cmdline.Doc, words ...string) {
		out, err := exec.Command("rpcx", append(words, "--help")...).CombinedOutput()
		all = append(all, entry{strings.Join(append(words, "--help"), " "), fmt.Sprintf("%s%v\n", out, err)})
		for _, sub := range d.Commands {
			help(sub, append(words[:len(words):len(words)], sub.Name)...)
		}
	}
	help(Tree())
	for _, pattern := range []string{"../man/*", "../completions/*"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, entry{file, string(b)})
		}
	}
	compareSnapshot(t, "help", all)
}

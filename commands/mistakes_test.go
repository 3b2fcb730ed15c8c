package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// TestMistakes runs each command line of testdata/mistakes.txt and testdata/mistakes-DIALECT.txt in this process, and compares the
// exit status, parts of the message, and the fix. It also runs each fix. The lines of these files are:
//
//	$ WORDS         the arguments of rpcx, quoted as for sh; $NAME is the address of a peer (mistakes_peers_test.go)
//	< TEXT          a line for stdin
//	STATUS TEXT…    the exit status, and texts in the message, separated by " | "; !TEXT must not be in it
//	try WORDS       the fix; without this line, rpcx must propose none
//	fails           the fix fails for another reason, for example because only the peer's user knows what is missing
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	testkit.OK(t, os.CopyFS(dir, os.DirFS("testdata/mistakes")))
	t.Chdir(dir)
	for name, value := range map[string]string{"HOME": dir, "XDG_RUNTIME_DIR": filepath.Join(dir, "run"), "RPCX_ERRORS": "json", "RPCX_ENDPOINT": "", "HTTP_PROXY": "", "http_proxy": ""} {
		t.Setenv(name, value)
	}
	names := mistakenPeers(t, dir)
	mistakes := readMistakes(t, names)
	for i, m := range mistakes {
		if testkit.Sampled(i) {
			t.Run(m.line, func(t *testing.T) { m.check(t) })
		}
	}
	if len(mistakes) < 160 {
		t.Errorf("%d command lines, want 160", len(mistakes))
	}
}

// A mistake is a row of the tables in testdata.
type mistake struct {
	line   string
	words  []string
	stdin  string
	status int
	says   []string
	fix    []string
	fails  bool
}

// readMistakes reads the tables. names has the values of $NAME.
func readMistakes(t *testing.T, names map[string]string) (list []*mistake) {
	files, err := filepath.Glob(filepath.Join(testdata, "mistakes*.txt"))
	testkit.OK(t, err)
	for _, file := range files {
		list = append(list, readTable(t, file, names)...)
	}
	return list
}

func readTable(t *testing.T, file string, names map[string]string) (list []*mistake) {
	b, err := os.ReadFile(file)
	testkit.OK(t, err)
	var m *mistake
	for i, line := range strings.Split(string(b), "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "", "#":
		case "$":
			m = &mistake{line: rest, words: shellWords(t, rest, names)}
			list = append(list, m)
		case "<":
			m.stdin += shellWords(t, rest, names)[0] + "\n"
		case "try":
			m.fix = shellWords(t, rest, names)
		case "fails":
			m.fails = true
		default:
			if _, err := fmt.Sscan(kind, &m.status); err != nil {
				t.Fatalf("%s:%d: %q", filepath.Base(file), i+1, line)
			}
			for _, fact := range strings.Split(rest, " | ") {
				m.says = append(m.says, expand(fact, names))
			}
		}
	}
	return list
}

// testdata is an absolute path, because the test changes its working directory.
var testdata, _ = filepath.Abs("testdata")

// expand replaces each $NAME in text by the peer's address.
func expand(text string, names map[string]string) string {
	return os.Expand(text, func(name string) string {
		if v, ok := names[name]; ok {
			return v
		}
		return "$" + name
	})
}

// shellWords splits a line into words as sh does, with quotes, backslashes, and $NAME of a peer.
func shellWords(t *testing.T, line string, names map[string]string) (words []string) {
	var word strings.Builder
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for rest := line; rest != ""; {
		c := rest[0]
		rest = rest[1:]
		switch {
		case c == ' ':
			end()
			continue
		case c == '\\':
			word.WriteByte(rest[0])
			rest = rest[1:]
		case c == '\'' || c == '"':
			text, after, ok := strings.Cut(rest, string(c))
			if !ok {
				t.Fatalf("%s: an open quote", line)
			}
			rest = after
			if c == '"' {
				text = expand(text, names)
			}
			word.WriteString(text)
		case c == '$':
			n := 0
			for n < len(rest) && (rest[n] >= 'A' && rest[n] <= 'Z' || rest[n] >= '0' && rest[n] <= '9') {
				n++
			}
			value, known := names[rest[:n]]
			if !known {
				t.Fatalf("%s: no peer is named %q", line, rest[:n])
			}
			word.WriteString(value)
			rest = rest[n:]
		default:
			word.WriteByte(c)
		}
		begun = true
	}
	end()
	return words
}

// check runs the line and its fix.
func (m *mistake) check(t *testing.T) {
	got := typed(t, m.words, m.stdin)
	said := got.text()
	if got.status != m.status {
		t.Errorf("status %d, want %d: %s", got.status, m.status, said)
	}
	for _, fact := range m.says {
		if not, ok := strings.CutPrefix(fact, "!"); ok == strings.Contains(said, not) {
			t.Errorf("%s\nwant %q", said, fact)
		}
	}
	fix := got.fault.Fix
	if len(fix) > 0 {
		fix = fix[1:] // rpcx
	}
	if !slices.Equal(fix, m.fix) {
		t.Errorf("%s\nfix %q\nwant %q", said, fix, m.fix)
	}
	if len(fix) == 0 {
		return
	}
	again := typed(t, fix, m.stdin)
	switch {
	case slices.Equal(fix, m.words):
		t.Errorf("the fix is the failed command itself: %q", fix)
	case !m.fails && again.status != 0:
		t.Errorf("the fix %q fails: %s", fix, again.text())
	case m.fails && (again.status == 0 || again.fault.Message == got.fault.Message):
		t.Errorf("the fix %q: %d %s", fix, again.status, again.text())
	}
}

// A typedLine is the outcome of a command line.
type typedLine struct {
	status int
	fault  struct {
		Message, Hint string
		Fix           []string
	}
	other string // the other lines of stderr
}

// text returns the message and the hint.
func (l *typedLine) text() string {
	return strings.TrimSpace(l.other + l.fault.Message + ": " + l.fault.Hint)
}

// typed runs a command line in this process.
func typed(t *testing.T, words []string, stdin string) *typedLine {
	dir := t.TempDir()
	open := func(name string) *os.File {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
		testkit.OK(t, err)
		return f
	}
	in, out, errs := open("stdin"), open("stdout"), open("stderr")
	_, _ = in.WriteString(stdin)
	_, _ = in.Seek(0, io.SeekStart)
	defer func(in, out, errs *os.File) { os.Stdin, os.Stdout, os.Stderr = in, out, errs }(os.Stdin, os.Stdout, os.Stderr)
	os.Stdin, os.Stdout, os.Stderr = in, out, errs
	got := &typedLine{status: Main(append([]string{"rpcx"}, words...)).Status}
	b, err := os.ReadFile(errs.Name())
	testkit.OK(t, err)
	for line := range bytes.Lines(b) {
		var said struct{ Error *json.RawMessage }
		if json.Unmarshal(line, &said) == nil && said.Error != nil {
			if err := json.Unmarshal(*said.Error, &got.fault); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		got.other += string(line)
		if fix := scan.Get(line, "fix"); fix != nil && got.fault.Fix == nil {
			_ = json.Unmarshal(fix, &got.fault.Fix)
		}
	}
	for _, f := range []*os.File{in, out, errs} {
		_ = f.Close()
	}
	return got
}

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rpcx/commands"
	"rpcx/commands/cmdline"
	"rpcx/commands/help"
	"rpcx/wire/testkit"
)

func TestGeneratedFilesAreFresh(t *testing.T) {
	testkit.RaceSkips(t)
	t.Chdir("../../..")
	files, err := generate()
	testkit.OK(t, err)
	for _, f := range files {
		old, err := os.ReadFile(f.name)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(old, f.text) {
			t.Errorf("%s is stale: run scripts/gen and commit the result", f.name)
		}
	}
}

func TestExamples(t *testing.T) {
	script, held := parseArchive(`# a test
exec hidden

# doc: A call
stdin in
exec rpcx call demo:orders getOrder id=o_001
cmp stdout want
! stderr .
exec rpcx describe demo:orders
cp stdout catalog.json
! exec rpcx call demo:orders nothing
cmp stderr why
status 2 rpcx call

exec hidden
-- in --
x
-- want --
{"id":"o_001"}
-- why --
rpcx: nothing
`)
	got, err := examplesIn(script, held)
	testkit.OK(t, err)
	want := []example{{title: "A call", text: `$ cat in
x
$ rpcx call demo:orders getOrder id=o_001 <in
{"id":"o_001"}
$ rpcx describe demo:orders >catalog.json
$ rpcx call demo:orders nothing
rpcx: nothing
$ rpcx call`}}
	if len(got) != 1 || got[0] != want[0] {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range []string{"# doc: empty\n", "# doc: no such file\nexec x\ncmp stdout none\n"} {
		if _, err := examplesIn(bad, nil); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestManualIsClean checks that mandoc has no warnings.
func TestManualIsClean(t *testing.T) {
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("mandoc is missing")
	}
	pages, err := filepath.Glob("../../../man/rpcx*")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no manual pages: %v", err)
	}
	out, _ := exec.Command("mandoc", append([]string{"-Tlint"}, pages...)...).CombinedOutput() // mandoc fails after a warning
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "input text line longer than 80 bytes") { // long lines are allowed in generated sources
			t.Error(line)
		}
	}
}

func TestBlocks(t *testing.T) {
	root := &cmdline.Command{Name: "rpcx", Commands: []*cmdline.Command{{Name: "call", Args: "A|B", Usage: "calls"}}}
	got, err := fillBlocks([]byte("a\n<!-- gen:commands -->\nold\n<!-- end -->\nb\n"), root, nil, nil)
	want := "a\n<!-- gen:commands -->\n| command | what it does |\n| --- | --- |\n| `call A\\|B` | calls |\n<!-- end -->\nb\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"<!-- gen:none -->\n<!-- end -->", "<!-- gen:commands -->", "<!-- gen:example x -->\n<!-- end -->"} {
		if _, err := fillBlocks([]byte(bad), root, nil, nil); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestManualPrintsTheTopics(t *testing.T) {
	for text, want := range map[string]string{
		"a-b":     `a\-b`,
		".x":      `\&.x`,
		`a\b`:     `a\eb`,
		"'quoted": `\(aqquoted`,
	} {
		if got := literal(text); got != want {
			t.Errorf("literal(%q) = %q, want %q", text, got, want)
		}
	}
	if got := inline("take `--x`"); got != `take \fB\-\-x\fR` {
		t.Errorf("inline: %q", got)
	}
}

// TestNoExampleTwice checks that no example is repeated in README, the manual and the help.
func TestNoExampleTwice(t *testing.T) {
	testkit.RaceSkips(t)
	t.Chdir("../../..")
	examples, err := readExamples("commands/testdata/script")
	testkit.OK(t, err)
	places := map[string]string{}
	see := func(place, text string) {
		here := map[string]bool{}
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "  #")
			if !strings.HasPrefix(line, "rpcx ") || here[line] {
				continue
			}
			here[line] = true
			if other := places[line]; other != "" {
				t.Errorf("%s stands in %s and in %s", line, other, place)
			}
			places[line] = place
		}
	}
	for _, e := range examples {
		see("the example "+e.title, e.text)
	}
	readme, err := os.ReadFile("README.md")
	testkit.OK(t, err)
	see("README.md", generatedBlock.ReplaceAllString(string(readme), ""))
	for _, topic := range help.Topics() {
		for _, part := range help.Parts(topic.Text) {
			if part.Kind == help.Verbatim {
				see("rpcx-"+topic.Name, strings.Join(part.Lines, "\n"))
			}
		}
	}
	commands.Tree().Walk(nil, func(path []string, d *cmdline.Command) {
		for _, e := range d.Examples {
			see("the help of "+strings.Join(path, " "), e.Command)
		}
	})
	if len(places) < 100 {
		t.Errorf("only %d lines of examples were found", len(places))
	}
}

// generatedBlock matches a block that scripts/gen writes into README.
var generatedBlock = regexp.MustCompile(`(?s)<!-- gen:.*?<!-- end -->`)

// TestManualIsShort checks that all pages together have at most 8,000 lines.
func TestManualIsShort(t *testing.T) {
	testkit.RaceSkips(t)
	t.Chdir("../../..")
	files, err := generate()
	testkit.OK(t, err)
	lines := 0
	for _, f := range files {
		if strings.HasPrefix(f.name, "man/rpcx") {
			lines += bytes.Count(f.text, []byte("\n"))
		}
	}
	if lines > 8000 {
		t.Errorf("the manual has %d lines", lines)
	}
}

// TestMCPIsShort checks that the MCP page fits on two screens of 50 lines and 80 columns.
func TestMCPIsShort(t *testing.T) {
	testkit.RaceSkips(t)
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("mandoc is not installed")
	}
	t.Chdir("../../..")
	files, err := generate()
	testkit.OK(t, err)
	for _, f := range files {
		if f.name != "man/rpcx-mcp.7" {
			continue
		}
		mandoc := exec.Command("mandoc", "-O", "width=80")
		mandoc.Stdin = bytes.NewReader(f.text)
		text, err := mandoc.Output()
		testkit.OK(t, err)
		if n := bytes.Count(text, []byte("\n")); n > 100 {
			t.Errorf("rpcx-mcp(7) has %d lines", n)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"testing"

	"rpcx/commands/cmdline"
)

func TestGeneratedFilesAreFresh(t *testing.T) {
	t.Chdir("../../..")
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		old, err := os.ReadFile(f.name)
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(old, f.text) {
			t.Errorf("%s is stale: run scripts/gen and commit what it writes", f.name)
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
	if err != nil {
		t.Fatal(err)
	}
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
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestBlocks(t *testing.T) {
	root := cmdline.Doc{Name: "rpcx", Commands: []cmdline.Doc{{Name: "call", Args: "A|B", Usage: "calls"}}}
	got, err := fillBlocks([]byte("a\n<!-- gen:commands -->\nold\n<!-- end -->\nb\n"), root, nil, nil)
	want := "a\n<!-- gen:commands -->\n| command | what it does |\n| --- | --- |\n| `call A\\|B` | calls |\n<!-- end -->\nb\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"<!-- gen:none -->\n<!-- end -->", "<!-- gen:commands -->", "<!-- gen:example x -->\n<!-- end -->"} {
		if _, err := fillBlocks([]byte(bad), root, nil, nil); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestManualPrintsWhatIsWritten(t *testing.T) {
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

package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// TestMap checks that CONTRIBUTING.md and the comment of main.go name only existing files, and that they name each package and each
// step of the scripted peer.
func TestMap(t *testing.T) {
	text := read(t, "../CONTRIBUTING.md")
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)`([^`]+)`").FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
	}
	for name := range named {
		if !regexp.MustCompile(`^(commands|format|wire|scripts|main\.go)[\w/.*-]*$`).MatchString(name) {
			continue
		}
		if found, _ := filepath.Glob("../" + name); found == nil {
			t.Errorf("CONTRIBUTING.md names %s, which does not exist", name)
		}
	}
	for _, f := range floors {
		if f.pkg != "" && !named[f.pkg] && !strings.HasPrefix(f.pkg, "wire/dialect/") && !strings.HasPrefix(f.pkg, "wire/session/") {
			t.Errorf("CONTRIBUTING.md does not name the package %s", f.pkg)
		}
	}
	for _, path := range regexp.MustCompile(`\b(commands|format|wire|scripts)/[\w/.]*\w`).FindAllString(read(t, "../main.go"), -1) {
		if _, err := os.Stat("../" + strings.TrimPrefix(path, "rpcx/")); err != nil {
			t.Errorf("main.go names %s: %v", path, err)
		}
	}
	steps := regexp.MustCompile(`(?m)^	case "(\w+)":`).FindAllStringSubmatch(read(t, "scriptedpeer_test.go"), -1)
	for _, m := range steps {
		if !strings.Contains(text, "| `"+m[1]) && m[1] != "listen" && m[1] != "dial" {
			t.Errorf("CONTRIBUTING.md does not describe the step %s of the scripted peer", m[1])
		}
	}
	if len(steps) < 10 {
		t.Errorf("%d steps of the scripted peer were found", len(steps))
	}
}

// TestDialectsGo checks that only scripts whose names start with a removable dialect's name contain its examples.
func TestDialectsGo(t *testing.T) {
	testkit.RaceSkips(t)
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, name := range []string{"ro", "introspect"} {
		uses := regexp.MustCompile(`\bdemo:` + name + `\b|(^|[\s'"])` + name + `\+[a-z]|--dialect[= ]` + name + `\b`)
		for _, file := range files {
			if use := uses.FindString(read(t, file)); use != "" && !strings.HasPrefix(filepath.Base(file), name+"-") {
				t.Errorf("%s has %q: that belongs in a script named %s-…, see the removal of a dialect in CONTRIBUTING.md", file, use, name)
			}
		}
	}
}

// TestJSONIsBuilt checks that JSON is written with the builders of wire/scan, never assembled from strings. format/tapeview/html.go
// is exempt, because it writes a page's data in pieces.
func TestJSONIsBuilt(t *testing.T) {
	testkit.RaceSkips(t)
	pieces := regexp.MustCompile("`[^`]*[{,]\"\\w+\":[^`]*` ?\\+" + // `{"a":` + …
		"|\\+ ?`[^`]*[}\\]]`" + // … + `}`
		"|\\bappend\\([^`\n]*`[{,]\"[^`]*[^`}\\]]`\\.\\.\\." + // append(b, `,"a":`...)
		"|printf\\([^`\n]*`[^`]*[{,]\"\\w+\":[^`]*%") // Sprintf(`{"a":%d}`, …)
	for _, file := range programFiles(t) {
		if file == "format/tapeview/html.go" {
			continue
		}
		for _, found := range pieces.FindAllString(read(t, "../"+file), -1) {
			if !strings.Contains(found, "…") { // a placeholder, not JSON
				t.Errorf("%s assembles JSON from strings, as in %s: use Object and Array of wire/scan", file, found)
			}
		}
	}
}

// TestCitations checks that all files that comments cite exist in the repository.
func TestCitations(t *testing.T) {
	testkit.RaceSkips(t)
	headings := read(t, "../man/rpcx.1")
	cited := regexp.MustCompile(`\b([A-Z][A-Z ]+[A-Z]) (?:in|of) rpcx\(1\)`)
	pages := regexp.MustCompile(`\b(rpcx-[a-z-]*[a-z])\((\d)\)`)
	for _, path := range slices.Concat(filesIn(t, ".go", "."), filesIn(t, ".txtar", ".")) {
		text := strings.ReplaceAll(read(t, path), "\n// ", " ")
		if m := regexp.MustCompile(`(?i)section \d+ of (the|our) design|as the design has`).FindString(text); m != "" && filepath.Base(path) != "contributing_test.go" {
			t.Errorf("%s cites %q, which is not in the repository", path, m)
		}
		for _, m := range cited.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(headings, "\n.SH "+m[1]+"\n") {
				t.Errorf("%s cites %q, which is not a heading of the manual", path, m[0])
			}
		}
		for _, m := range pages.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat("../man/" + m[1] + "." + m[2]); err != nil {
				t.Errorf("%s cites %s, which is not a page of the manual", path, m[0])
			}
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	testkit.OK(t, err)
	return string(b)
}

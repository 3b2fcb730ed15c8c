package commands

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// banned are phrases that no text, comment or message may contain, with replacements.
var banned = []struct{ phrase, use string }{
	{`spoken with`, "uses the dialect"},
	{`as it is said`, "as it arrives"},
	{`(holds?|held|holding)\b[^.;:"]{1,60}? against`, "checks with, compares with"},
	{`likewise`, "nothing, or the same words again"},
	{`is no name of`, "is not a name of"},
	{`is no method`, "is not a method"},
	{`is none`, "is not, has no"},
	{`what nothing`, "requests without"},
	{`who asks`, "the caller, credentials"},
	{`far (side|end)`, "the peer"},
	{`talks? back`, "bidirectional"},
	{`over there`, "the peer's"},
	{`so that it is`, "to be"},
	{`gives up`, "fails, ends"},
	{`of its own accord`, "by itself"},
	{`as it stands`, "unchanged"},
	{`all the same`, "anyway"},
}

// styleExceptions are texts in which a banned phrase is correct.
var styleExceptions = []struct{ text, why string }{
	{"there is none", "it says that a thing does not exist"},
}

// TestStyle checks that README, CONTRIBUTING, CHANGELOG, help topics, comments and messages contain no banned phrase.
func TestStyle(t *testing.T) {
	testkit.RaceSkips(t)
	var phrases []*regexp.Regexp
	for _, b := range banned {
		phrases = append(phrases, regexp.MustCompile(`(?i)\b`+strings.ReplaceAll(b.phrase, " ", `\s+`)+`\b`))
	}
	check := func(place, text string) {
		text = strings.Join(strings.Fields(text), " ")
		for _, e := range styleExceptions {
			text = strings.ReplaceAll(text, e.text, "")
		}
		for i, p := range phrases {
			if found := p.FindString(text); found != "" {
				t.Errorf("%s: %q: write %s", place, found, banned[i].use)
			}
		}
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		checkLines(check, name, read(t, "../"+name))
	}
	topics, err := filepath.Glob("help/topics/*.txt")
	if err != nil || len(topics) < 20 {
		t.Fatalf("%d topics, %v", len(topics), err)
	}
	for _, name := range topics {
		checkLines(check, name, read(t, name))
	}
	for _, path := range filesIn(t, "", "commands", "format", "scripts", "wire", "main.go") {
		switch {
		case path == "../commands/style_test.go":
		case filepath.Ext(path) == ".go":
			checkGo(t, check, path)
		case filepath.Ext(path) == ".txtar":
			script, _, _ := strings.Cut(read(t, path), "\n-- ")
			checkLines(check, path, comments(script))
		case strings.HasPrefix(path, "../scripts/") && strings.HasPrefix(read(t, path), "#!"):
			checkLines(check, path, comments(read(t, path)))
		}
	}
}

// TestReadme checks that README is short, and that its first lines name the audience and the first commands to try.
func TestReadme(t *testing.T) {
	readme := read(t, "../README.md")
	if n := strings.Count(readme, "\n"); n > 200 {
		t.Errorf("README.md has %d lines, more than 200", n)
	}
	first := strings.SplitAfterN(readme, "\n", 15)
	if head := strings.Join(first[:14], ""); !strings.Contains(head, "\ngo run . call demo:") || !strings.Contains(head, "\nscripts/check\n") {
		t.Error("README.md does not begin with the two commands that a fresh machine can run")
	}
}

// TestGlossary checks that CONTRIBUTING has a glossary of about 40 words, each with one meaning.
func TestGlossary(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "../CONTRIBUTING.md"), "| word | meaning | replaces |\n| --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	seen := map[string]bool{}
	for row := range strings.Lines(table + "\n") {
		word, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		if seen[word] {
			t.Errorf("the glossary explains %q twice", word)
		}
		seen[word] = true
	}
	if len(seen) < 35 || len(seen) > 55 {
		t.Errorf("the glossary has %d words", len(seen))
	}
}

// checkLines checks the paragraphs of a text, because a phrase can continue on the next line.
func checkLines(check func(place, text string), name, text string) {
	line := 1
	for para := range strings.SplitSeq(text, "\n\n") {
		check(name+":"+strconv.Itoa(line), para)
		line += strings.Count(para, "\n") + 2
	}
}

// comments returns the comments of a shell script.
func comments(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "#"); ok {
			b.WriteString(text + "\n")
		} else {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// checkGo checks the comments and strings of a Go file.
func checkGo(t *testing.T, check func(place, text string), path string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	testkit.OK(t, err)
	for _, c := range file.Comments {
		check(files.Position(c.Pos()).String(), c.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			if text, err := strconv.Unquote(s.Value); err == nil {
				check(files.Position(s.Pos()).String(), text)
			}
		}
		return true
	})
}

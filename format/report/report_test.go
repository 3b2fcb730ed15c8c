package report

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rpcx/wire/testkit"
)

var update = flag.Bool("update", false, "write testdata anew")

// some is a report with special characters in each member.
func some() []Suite {
	return []Suite{
		{Name: "tapes", Started: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC), Cases: []Case{
			{Name: "orders.tape", Duration: 12500 * time.Microsecond, Stdout: "hello\n"},
			{Name: "a # b \\ c\nnot ok 7", Class: "demo", Duration: time.Second, Failures: []Failure{
				{Kind: "result", Message: "line 3: /result/total: \"5\" in place of 6 \x1b[31m first <b> ]]>second & third"},
				{Message: "line 9 is missing"},
			}},
			{Name: "slow", Skipped: "no peer # here\nat all"},
		}},
		{Name: "none"},
		{Name: "other", Cases: []Case{{Name: "gone", Error: "connection refused: \u0085\xff\x00"}}},
	}
}

// tapLine matches the lines of TAP 14.
var tapLine = regexp.MustCompile(`^(    )?(TAP version 14|1\.\.\d+( # SKIP .+)?|# Subtest: .+|(not )?ok \d+ - ([^#\\]|\\#|\\\\)*( # SKIP .+)?|  ---|  \.\.\.|  {2,6}.*|  [a-z_]+:.*)$`)

func TestTAPKeepsTheGrammar(t *testing.T) {
	for line := range strings.Lines(write(t, TAP, some())) {
		line = strings.TrimSuffix(line, "\n")
		if !tapLine.MatchString(line) {
			t.Errorf("not a line of TAP 14: %q", line)
		}
		if strings.ContainsAny(line, "\x1b\x00\r") {
			t.Errorf("a control character remains: %q", line)
		}
	}
}

func TestTAPOfOneSuiteIsAPlainList(t *testing.T) {
	text := write(t, TAP, []Suite{{Name: "tapes", Cases: []Case{{Name: "a"}, {Name: "b"}}}})
	if want := "TAP version 14\n1..2\nok 1 - a\nok 2 - b\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

// junitElements maps the elements of JUnit XML to their required attributes and possible parents.
var junitElements = map[string]struct {
	attrs  []string
	inside string
}{
	"testsuites": {[]string{"tests", "failures", "errors", "time"}, ""},
	"testsuite":  {[]string{"name", "tests", "failures", "errors", "skipped", "time"}, "testsuites"},
	"testcase":   {[]string{"name", "classname", "time"}, "testsuite"},
	"failure":    {[]string{"message", "type"}, "testcase"},
	"error":      {[]string{"message", "type"}, "testcase"},
	"skipped":    {[]string{"message"}, "testcase"},
	"system-out": {nil, "testcase"},
}

func TestJUnitIsWellFormedAndKnown(t *testing.T) {
	text := write(t, JUnit, some())
	d := xml.NewDecoder(strings.NewReader(text))
	var open []string
	count := map[string]int{}
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			checkJUnit(t, tok, strings.Join(open[max(len(open)-1, 0):], ""))
			open = append(open, tok.Name.Local)
			count[tok.Name.Local]++
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
	if got, want := fmt.Sprint(count), "map[error:1 failure:1 skipped:1 system-out:1 testcase:4 testsuite:3 testsuites:1]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func checkJUnit(t *testing.T, e xml.StartElement, around string) {
	t.Helper()
	known, ok := junitElements[e.Name.Local]
	if !ok || known.inside != around {
		t.Errorf("<%s> inside <%s>", e.Name.Local, around)
	}
	for _, want := range known.attrs {
		found := false
		for _, a := range e.Attr {
			found = found || a.Name.Local == want
		}
		if !found {
			t.Errorf("<%s> lacks %s", e.Name.Local, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"tap", "tap to "},
		{"junit=out.xml", "junit to out.xml"},
		{"json=-", "json to "},
		{"json=a=b", "json to a=b"},
		{"xml", `! "xml" is not a report format; use tap, junit or json, optionally with =FILE`},
		{"", `! "" is not a report format; use tap, junit or json, optionally with =FILE`},
		{"tap=", `! "tap=": the file name is missing; write tap=FILE, or tap for standard output`},
	} {
		var target Target
		got := ""
		if err := target.Set(c.text); err != nil {
			got = "! " + err.Error()
		} else {
			got = string(target.Form) + " to " + target.File
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestTargetWritesToItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.tap")
	var stdout strings.Builder
	for _, target := range []Target{{}, {Form: TAP}, {Form: TAP, File: file}, {Form: TAP, File: file}} {
		testkit.OK(t, target.Write(&stdout, []Suite{{Name: "a", Cases: []Case{{Name: "b"}}}}))
	}
	const want = "TAP version 14\n1..1\nok 1 - b\n"
	written, _ := os.ReadFile(file)
	if stdout.String() != want || string(written) != want {
		t.Errorf("stdout %q, file %q", stdout.String(), written)
	}
	err := Target{Form: TAP, File: filepath.Join(file, "x")}.Write(&stdout, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "--report: open ") {
		t.Errorf("got %v", err)
	}
}

func write(t *testing.T, form Form, suites []Suite) string {
	t.Helper()
	var b strings.Builder
	testkit.OK(t, writers[form](&b, suites))
	return b.String()
}

// Reports are compared byte for byte. -update writes the expected files. Review them afterwards.
func TestWhole(t *testing.T) {
	all := append(some(), Suite{Name: "more", Cases: []Case{
		{Name: "bare", Failures: []Failure{{Message: "of no kind"}}},
		{Name: "both", Error: "broken", Failures: []Failure{{Kind: "differs", Message: "and wrong"}}, Stdout: "said"},
		{Name: "left out", Class: "c", Skipped: "why"},
	}})
	if got := write(t, JSON, nil); got != `{"tests":0,"failed":0,"errors":0,"skipped":0,"seconds":0,"suites":[]}`+"\n" {
		t.Errorf("an empty report: %s", got)
	}
	for form := range writers {
		file := filepath.Join("testdata", "whole."+string(form))
		got := write(t, form, all)
		if *update {
			testkit.OK(t, os.WriteFile(file, []byte(got), 0o644))
		}
		if want, err := os.ReadFile(file); err != nil || got != string(want) {
			t.Errorf("%s, %v: %s", form, err, got)
		}
	}
}

// Reports for terminals contain no control characters from a peer.
func TestNothingIsObeyed(t *testing.T) {
	bad := "\x1b]0;x\a\x7f\u0085\u009b\u200f\u202e\u2066"
	suites := []Suite{{Name: bad, Cases: []Case{
		{Name: bad, Class: bad, Stdout: bad, Failures: []Failure{{Kind: bad, Message: bad}}, Many: crowd{n: 2}},
		{Name: "e", Error: bad},
		{Name: "s", Skipped: bad},
	}}}
	for _, form := range []Form{TAP, JUnit} {
		var out bytes.Buffer
		testkit.OK(t, writers[form](&out, suites))
		if i := strings.IndexAny(out.String(), "\x1b\a\x7f\u0085\u009b\u200f\u202e\u2066"); i >= 0 {
			t.Errorf("%s: %.40q", form, out.String()[i:])
		}
	}
	if suites[0].Name != bad || suites[0].Cases[0].Failures[0].Message != bad {
		t.Error("the report's own texts were changed")
	}
}

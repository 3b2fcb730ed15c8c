package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"rpcx/format"
)

// tapWriter writes TAP version 14 (https://testanything.org/tap-version-14-specification.html). indent precedes the
// lines of the current subtest.
type tapWriter struct {
	*bufio.Writer
	indent string
}

// writeTAP writes a single suite as a list of test points, which programs for TAP 13 can read, and several suites as
// subtests.
func writeTAP(out io.Writer, suites []Suite) error {
	w := &tapWriter{Writer: bufio.NewWriter(out)}
	w.line("TAP version 14")
	if len(suites) == 1 {
		w.cases(suites[0])
		return w.Flush()
	}
	w.line("1..%d", len(suites))
	for i, s := range suites {
		w.line("# Subtest: %s", oneLine(s.Name))
		w.indent = "    "
		w.cases(s)
		w.indent = ""
		w.line("%s %d - %s", okWord(Count(s).OK()), i+1, description(s.Name))
	}
	return w.Flush()
}

func (w *tapWriter) line(layout string, args ...any) {
	fmt.Fprintf(w, w.indent+layout+"\n", args...)
}

// cases writes the plan and the test points of a suite. The plan of an empty suite contains a reason, because it would
// look like a mistake without one.
func (w *tapWriter) cases(s Suite) {
	if len(s.Cases) == 0 {
		w.line("1..0 # SKIP nothing to check")
		return
	}
	w.line("1..%d", len(s.Cases))
	for i, c := range s.Cases {
		w.point(i+1, c)
	}
}

// point writes one test point. Details follow as a YAML block whose values are JSON strings.
func (w *tapWriter) point(n int, c Case) {
	name := description(c.Name)
	if c.Class != "" {
		name = description(c.Class + ": " + c.Name)
	}
	state := c.status()
	text := fmt.Sprintf("%s %d - %s", okWord(state == passed || state == skipped), n, name)
	if state == skipped {
		text += " # SKIP " + oneLine(c.Skipped)
	}
	w.line("%s", text)
	w.diagnostics(c)
}

func (w *tapWriter) diagnostics(c Case) {
	if c.failures() == 0 && c.Error == "" && c.Duration == 0 {
		return
	}
	w.line("  ---")
	if c.Duration > 0 {
		w.line("  duration_ms: %.3f", c.Duration.Seconds()*1000)
	}
	if c.Error != "" {
		w.line("  error: %s", quoted(c.Error))
	}
	if c.failures() > 0 {
		w.line("  message: %s", quoted(c.first().Message))
		w.line("  severity: fail")
		w.line("  failures:")
	}
	for f := range c.all() {
		w.line("    - message: %s", quoted(f.Message))
		if f.Kind != "" {
			w.line("      kind: %s", quoted(f.Kind))
		}
	}
	w.line("  ...")
}

func okWord(ok bool) string {
	if ok {
		return "ok"
	}
	return "not ok"
}

// description returns a name as it must appear in a test point: on one line, with characters escaped that would begin a
// directive.
func description(name string) string {
	return strings.NewReplacer(`\`, `\\`, `#`, `\#`).Replace(oneLine(name))
}

// oneLine returns text, which may be from a peer, without line breaks and control characters.
func oneLine(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(format.CleanLine(text), "\r", " "))
}

// quoted returns text as a JSON string in which control characters and the line separators of YAML are escaped.
func quoted(text string) string {
	b, _ := json.Marshal(text) // never fails for a string
	return strings.ReplaceAll(format.Clean(string(b)), "\ufeff", `\ufeff`)
}

package validate

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/format/report"
	"rpcx/wire/scan"
)

// A finding is one thing that is wrong, in the form that all checks share.
type finding struct {
	source   string // the file or the peer
	line     int    // of the file; 0: none
	dir      string // send or recv if it is about a message of a conversation; "": it is not, or that is not known
	number   int    // the number of that message in its conversation, from 1
	rule     string // what is violated: a keyword of JSON Schema, a rule of a dialect; or the kind of a difference
	level    string // must or should; of a difference its class
	section  string // where the rule is written: a place in a schema, a section of the dialect's page
	method   string // "": none, or several
	pointer  string // the place in the value, the message or the catalog
	in       string // old if the pointer is one into the older catalog
	whole    bool   // an empty pointer means the whole value, not that there is no place
	message  string // what is wrong, and what was expected
	expected string // what was expected, if message does not say it
	sent     string // our message to which the peer answered; "": none
	got      string // what came; "": nothing came, or message says it
	branches []byte // further findings, as JSON; nil: none
	warning  bool   // it does not make the check fail
}

// JSON returns the finding as it is printed on stdout.
func (f finding) JSON() []byte {
	var o scan.Object
	o.Text("source", f.source)
	if f.line > 0 {
		o.Int("line", int64(f.line))
	}
	o.SomeText("dir", f.dir)
	if f.number > 0 {
		o.Int("number", int64(f.number))
	}
	o.Text("rule", f.rule)
	o.SomeText("level", f.level)
	o.SomeText("section", f.section)
	o.SomeText("method", f.method)
	if f.whole || f.pointer != "" {
		o.Text("pointer", f.pointer)
	}
	o.SomeText("in", f.in)
	o.Text("message", f.message)
	o.SomeText("expected", f.expected)
	o.SomeText("sent", f.sent)
	o.SomeText("got", f.got)
	o.Add("branches", f.branches)
	return o.End()
}

// place returns the place of the finding in words.
func (f finding) place() string {
	var words []string
	if f.line > 0 {
		words = append(words, strings.TrimSpace(fmt.Sprintf("line %d %s", f.line, f.dir)))
	}
	if f.number > 0 {
		words = append(words, fmt.Sprintf("%s %d", f.dir, f.number))
	}
	if f.method != "" {
		words = append(words, f.method)
	}
	if f.pointer != "" {
		words = append(words, strings.TrimSpace(f.pointer+" "+inOld[f.in]))
	}
	return strings.Join(words, ", ")
}

var inOld = map[string]string{"old": "(of the older catalog)"}

// String returns the finding in words, without its source.
func (f finding) String() string {
	s := f.message
	if place := f.place(); place != "" {
		s = place + ": " + s
	}
	why := f.rule
	if f.section != "" {
		why += ", " + f.section
	}
	if f.level != "" {
		why = f.level + ": " + why
	}
	s += " (" + why + ")"
	if f.expected != "" {
		s += "; expected: " + f.expected
	}
	if f.sent != "" {
		s += "; sent: " + f.sent
	}
	if f.got != "" {
		s += "; came: " + f.got
	}
	return format.CleanLine(s)
}

// An outcome collects findings, prints them, and writes the report.
type outcome struct {
	run    *env.Env
	target report.Target
	suites []report.Suite
	failed int // cases that failed
}

// newOutcome returns an outcome without findings.
func newOutcome(run *env.Env, target report.Target) *outcome {
	return &outcome{run: run, target: target}
}

// suite begins a group of cases in the report.
func (r *outcome) suite(name string) {
	r.suites = append(r.suites, report.Suite{Name: name, Started: time.Now()})
}

// add adds a case to the latest group.
func (r *outcome) add(c report.Case) {
	if len(c.Failures) > 0 || c.Error != "" {
		r.failed++
	}
	if r.target.Wanted() {
		s := &r.suites[len(r.suites)-1]
		s.Cases = append(s.Cases, c)
	}
}

// print writes a finding to stdout, unless the report goes there: as a line of
// JSON, on a terminal in words.
func (r *outcome) print(f finding) error {
	if r.target.Stdout() {
		return nil
	}
	text := string(f.JSON())
	if r.run.Stdout.Terminal {
		text = f.source + ": " + f.String()
	}
	return cmdline.Print(os.Stdout, text+"\n")
}

// failure returns the finding as a failure in a report.
func (f finding) failure() report.Failure {
	return report.Failure{Kind: f.rule, Message: f.String()}
}

// into adds the finding to a case of the report: as a failure, or if it does
// not make the check fail, as output of the case.
func (f finding) into(c *report.Case, fails bool) {
	if fails {
		c.Failures = append(c.Failures, f.failure())
	} else {
		c.Stdout += f.String() + "\n"
	}
}

// write writes the report. It returns verdict, with the error of writing if
// there was one.
func (r *outcome) write(verdict error) error {
	return errors.Join(verdict, r.target.Write(os.Stdout, r.suites))
}

// count returns "1 value" or "2 values".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

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
	"rpcx/wire"
	"rpcx/wire/scan"
)

// A finding is one thing that is not as it should be.
type finding struct {
	source   string // the file or the peer
	line     int    // of a file; 0: none
	dir      string // send or recv, where a message of a conversation is meant; "": none, or not known
	number   int    // of that message among all of its conversation, from 1
	rule     string // what is broken: a keyword of JSON Schema, a kind of difference, the rule of a dialect
	level    string // must, should; of a difference its class
	section  string // where that is written: a place in a schema, a section of the dialect's page
	method   string // "": none, or several
	pointer  string // where in the value, the message or the catalog
	in       string // old, where the pointer is one into the older catalog
	whole    bool   // there is such a place, though the pointer may be "": all of it
	message  string // what is wrong, and what was expected
	expected string // what was expected, where message does not say it
	sent     string // the message of ours that was answered so; "": none
	got      string // what came; "": nothing, or message says it
	branches []byte // further findings, as JSON; nil: none
	warning  bool   // it does not make the check fail
}

// JSON returns the finding as stdout has it.
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

// place returns where it is, for people.
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

// String returns the finding for people, without its source.
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

// An outcome collects what is found, prints it, and makes the report.
type outcome struct {
	run    *env.Env
	target report.Target
	suites []report.Suite
	failed int // cases in which something is wrong
}

// newOutcome begins with nothing found.
func newOutcome(run *env.Env, target report.Target) *outcome {
	return &outcome{run: run, target: target}
}

// suite begins a group of cases.
func (r *outcome) suite(name string) {
	r.suites = append(r.suites, report.Suite{Name: name, Started: time.Now()})
}

// add adds a case to the group begun last.
func (r *outcome) add(c report.Case) {
	if len(c.Failures) > 0 || c.Error != "" {
		r.failed++
	}
	if r.target.Wanted() {
		s := &r.suites[len(r.suites)-1]
		s.Cases = append(s.Cases, c)
	}
}

// print writes a finding on stdout, where that is not the report's: a line of JSON,
// on a terminal words.
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

// failure returns the finding in a report.
func (f finding) failure() report.Failure {
	return report.Failure{Kind: f.rule, Message: f.String()}
}

// into puts the finding into a case of the report: as a failure, or where it makes nothing fail as what the case said.
func (f finding) into(c *report.Case, fails bool) {
	if fails {
		c.Failures = append(c.Failures, f.failure())
	} else {
		c.Stdout += f.String() + "\n"
	}
}

// write writes the report, and returns verdict with what went wrong with that.
func (r *outcome) write(verdict error) error {
	if err := r.target.Write(os.Stdout, r.suites); err != nil {
		return errors.Join(verdict, wire.NewFault(wire.IO, err.Error(), err))
	}
	return verdict
}

// count returns "1 value" or "2 values".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

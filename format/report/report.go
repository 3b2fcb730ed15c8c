// Package report writes the outcome of checks in the forms that CI systems read: TAP version 14, JUnit XML and JSON.
// Every command with --report fills the same few structs. Only this package knows the forms.
//
//	report.go has the structs of a report, and its totals
//	target.go has the value of --report: a form and a destination
//	tap.go, junit.go, json.go have one form each
//	placeholders.go inserts text into a document later
package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"rpcx/format"
)

// A Suite is a group of cases that belong together, such as the tapes of one run, or the rules that were checked for
// one peer.
type Suite struct {
	Name    string
	Started time.Time // zero if unknown
	Cases   []Case
}

// A Case is one check. It has passed if it has no failures, no error and no reason for skipping it.
type Case struct {
	Name     string
	Class    string // the group of the name, such as a dialect or a file, or ""
	Duration time.Duration
	Failures []Failure
	Many     Failures // more failures, which are too many for memory, or nil
	Error    string   // why the check could not be made, such as an unreachable peer; "" if it was made
	Skipped  string   // why the check was skipped; "" if it was not
	Stdout   string   // the output during the check, which some systems show

	clean bool // its failures are for people
}

// A Failure is one problem.
type Failure struct {
	Kind    string `json:"kind,omitempty"`   // the broken rule, for systems that group by it, or ""
	Message string `json:"message"`          // one line
	Detail  string `json:"detail,omitempty"` // more lines, or ""
}

// Failures are a sequence of failures, which may be read repeatedly.
type Failures interface {
	Len() int
	All() iter.Seq[Failure]
}

// failures returns the number of c's failures.
func (c Case) failures() int {
	if c.Many == nil {
		return len(c.Failures)
	}
	return len(c.Failures) + c.Many.Len()
}

// all returns c's failures.
func (c Case) all() iter.Seq[Failure] {
	return func(yield func(Failure) bool) {
		if c.clean {
			use := yield
			yield = func(f Failure) bool {
				f.Kind, f.Message, f.Detail = format.CleanLine(f.Kind), format.CleanLine(f.Message), format.Clean(f.Detail)
				return use(f)
			}
		}
		for _, f := range c.Failures {
			if !yield(f) {
				return
			}
		}
		if c.Many == nil {
			return
		}
		for f := range c.Many.All() {
			if !yield(f) {
				return
			}
		}
	}
}

// first returns c's first failure. c must have a failure.
func (c Case) first() Failure {
	for f := range c.all() {
		return f
	}
	return Failure{}
}

// A status is the outcome of a case, in the words of the JSON form.
type status string

const (
	passed  status = "passed"
	failed  status = "failed"
	broken  status = "error"
	skipped status = "skipped"
)

// status returns the outcome of c. A case with failures and an error counts as failed, because the error only followed
// the failures.
func (c Case) status() status {
	switch {
	case c.failures() > 0:
		return failed
	case c.Error != "":
		return broken
	case c.Skipped != "":
		return skipped
	}
	return passed
}

// Totals counts the cases of some suites.
type Totals struct {
	Tests   int     `json:"tests" xml:"tests,attr"`
	Failed  int     `json:"failed" xml:"failures,attr"`
	Errors  int     `json:"errors" xml:"errors,attr"`
	Skipped int     `json:"skipped" xml:"skipped,attr"`
	Seconds seconds `json:"seconds" xml:"time,attr"`
}

// seconds is a time, which the JUnit form writes with six digits.
type seconds float64

// MarshalXMLAttr returns the seconds as an attribute.
func (s seconds) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: fmt.Sprintf("%.6f", float64(s))}, nil
}

// Count returns the totals of suites, for a summary such as "12 tests, 1
// failed".
func Count(suites ...Suite) Totals {
	var t Totals
	var all time.Duration
	for _, s := range suites {
		for _, c := range s.Cases {
			t.Tests++
			all += c.Duration
			switch c.status() {
			case failed:
				t.Failed++
			case broken:
				t.Errors++
			case skipped:
				t.Skipped++
			}
		}
	}
	t.Seconds = seconds(all.Seconds())
	return t
}

// OK reports whether no case failed and every check could be made.
func (t Totals) OK() bool { return t.Failed == 0 && t.Errors == 0 }

// Write writes suites to w in the given form. It returns only w's errors.
func Write(w io.Writer, form Form, suites []Suite) error {
	if form == JUnit { // XML has no escapes for control characters
		suites = cleaned(suites)
	}
	return writers[form](w, suites)
}

// cleaned returns suites in which all texts have control characters made visible.
func cleaned(suites []Suite) []Suite {
	suites = slices.Clone(suites)
	for i := range suites {
		s := &suites[i]
		s.Name, s.Cases = format.CleanLine(s.Name), slices.Clone(s.Cases)
		for j := range s.Cases {
			c := &s.Cases[j]
			c.Name, c.Class = format.CleanLine(c.Name), format.CleanLine(c.Class)
			c.Error, c.Skipped, c.Stdout = format.Clean(c.Error), format.Clean(c.Skipped), format.Clean(c.Stdout)
			c.clean = true
		}
	}
	return suites
}

// writers holds the writer of each form.
var writers = map[Form]func(io.Writer, []Suite) error{
	TAP:   writeTAP,
	JUnit: writeJUnit,
	JSON:  writeJSON,
}

// Package report writes the outcome of checks in formats for CI systems: TAP version 14, JUnit XML and JSON. All
// commands with --report fill the same structs, and only this package knows the formats.
//
//	report.go                    the structs of a report, and its totals
//	target.go                    the value of --report: a format and a file
//	tap.go, junit.go, json.go    one format each
package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"time"
)

// A Suite is a group of related cases, such as the tapes of one run, or the rules that were checked for one peer.
type Suite struct {
	Name    string
	Started time.Time // may be zero
	Cases   []Case
}

// A Case is one check. It has passed if it has no failures, no error and no reason for being skipped.
type Case struct {
	Name     string
	Class    string // what groups cases, such as a dialect or a file, or ""
	Duration time.Duration
	Failures []Failure
	Many     Failures // further failures that may be too many for memory; may be nil
	Error    string   // why the check was impossible, such as a peer that is unreachable, or ""
	Skipped  string   // why the check was skipped, or ""
	Stdout   string   // the output during the check, which some CI systems show
}

// A Failure is one problem.
type Failure struct {
	Kind    string `json:"kind,omitempty"` // the violated rule, by which some CI systems group problems, or ""
	Message string `json:"message"`
}

// Failures is a sequence of failures that can be read several times.
type Failures interface {
	Len() int
	All() iter.Seq[Failure]
}

func (c Case) failures() int {
	if c.Many == nil {
		return len(c.Failures)
	}
	return len(c.Failures) + c.Many.Len()
}

func (c Case) all() iter.Seq[Failure] {
	return func(yield func(Failure) bool) {
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

// A status is the outcome of a case, as in the JSON form.
type status string

const (
	passed  status = "passed"
	failed  status = "failed"
	broken  status = "error"
	skipped status = "skipped"
)

// status returns the outcome of c. A case with failures and an error has failed, because the error occurred after the
// failures.
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

// Totals contains the numbers of cases in some suites.
type Totals struct {
	Tests   int     `json:"tests" xml:"tests,attr"`
	Failed  int     `json:"failed" xml:"failures,attr"`
	Errors  int     `json:"errors" xml:"errors,attr"`
	Skipped int     `json:"skipped" xml:"skipped,attr"`
	Seconds seconds `json:"seconds" xml:"time,attr"`
}

// seconds is a duration, which the JUnit form writes with six decimals.
type seconds float64

// MarshalXMLAttr implements xml.MarshalerAttr.
func (s seconds) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: fmt.Sprintf("%.6f", float64(s))}, nil
}

// Count returns the totals of suites, for a summary such as "12 tests, 1 failed".
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

// OK reports whether no case failed and no check was impossible.
func (t Totals) OK() bool { return t.Failed == 0 && t.Errors == 0 }

// writers write suites in each form. They return only errors of the writer.
var writers = map[Form]func(io.Writer, []Suite) error{
	TAP:   writeTAP,
	JUnit: writeJUnit,
	JSON:  writeJSON,
}

package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"rpcx/wire"
)

// The JUnit form was first used by Ant. Jenkins, GitLab, GitHub Actions and others read it. There is no standard, but
// all of these support the elements and attributes that are used here. A case has at most one failure element, because
// some programs read only the first.

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	Totals
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	Totals
	Timestamp string      `xml:"timestamp,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    seconds       `xml:"time,attr"`
	Skipped *junitMessage `xml:"skipped"`
	Failure *junitMessage `xml:"failure"`
	Error   *junitMessage `xml:"error"`
	Stdout  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func writeJUnit(w io.Writer, suites []Suite) error {
	doc := junitSuites{Name: "rpcx", Totals: Count(suites...)}
	var later placeholders
	doc.Suites = wire.Map(suites, func(s Suite) junitSuite { return junitOf(s, &later) })
	b, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	return later.write(w, append(append([]byte(xml.Header), b...), '\n'))
}

func junitOf(s Suite, later *placeholders) junitSuite {
	out := junitSuite{Name: s.Name, Totals: Count(s)}
	if !s.Started.IsZero() {
		out.Timestamp = s.Started.UTC().Format("2006-01-02T15:04:05")
	}
	out.Cases = wire.Map(s.Cases, func(c Case) junitCase { return junitCaseOf(s.Name, c, later) })
	return out
}

// junitCaseOf returns one case. Programs that read the report sort cases into a tree by classname. For a case without a
// class, classname is the name of the suite.
func junitCaseOf(suite string, c Case, later *placeholders) junitCase {
	out := junitCase{Name: c.Name, Class: c.Class, Time: seconds(c.Duration.Seconds()), Stdout: c.Stdout}
	out.Class = cmp.Or(out.Class, suite)
	switch c.status() {
	case failed:
		out.Failure = junitFailure(c, later)
	case broken:
		out.Error = &junitMessage{Message: c.Error, Type: "error"}
	case skipped:
		out.Skipped = &junitMessage{Message: c.Skipped}
	}
	return out
}

// junitFailure converts all problems of a case to one element. Its message is the first problem, and its text contains
// all of them.
func junitFailure(c Case, later *placeholders) *junitMessage {
	first := c.first()
	m := &junitMessage{Message: first.Message, Type: first.Kind}
	m.Type = cmp.Or(m.Type, "failure")
	if more := c.failures() - 1; more > 0 {
		m.Message += fmt.Sprintf(" (and %d more)", more)
	}
	m.Text = later.add(func(w io.Writer) error {
		for f := range c.all() {
			text := f.Message + "\n"
			if f.Detail != "" {
				text += strings.TrimRight(f.Detail, "\n") + "\n"
			}
			if err := xml.EscapeText(w, []byte(text)); err != nil {
				return err
			}
		}
		return nil
	})
	return m
}

package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"iter"

	"rpcx/format"
	"rpcx/wire"
)

// The JUnit form was first used by Ant. Jenkins, GitLab, GitHub Actions and others read it. There is no standard, but
// all of these support the elements and attributes that are used here. A case has at most one failure element, because
// some programs read only the first. Control characters are made visible, because XML cannot contain them, not even as
// escapes.

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
	Failure *junitFailure `xml:"failure"`
	Error   *junitMessage `xml:"error"`
	Stdout  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// A junitFailure contains all problems of a case. Its message is the first one.
type junitFailure struct {
	junitMessage
	all iter.Seq[Failure]
	out *bufio.Writer // the encoder's writer
}

// MarshalXML implements xml.Marshaler. It writes the problems one by one, because they may be too many for memory.
func (f *junitFailure) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	start.Attr = []xml.Attr{{Name: xml.Name{Local: "message"}, Value: f.Message}, {Name: xml.Name{Local: "type"}, Value: f.Type}}
	if err := cmp.Or(e.EncodeToken(start), e.Flush()); err != nil {
		return err
	}
	for p := range f.all {
		if err := xml.EscapeText(f.out, []byte(format.CleanLine(p.Message)+"\n")); err != nil {
			return err
		}
	}
	return e.EncodeToken(start.End())
}

func writeJUnit(w io.Writer, suites []Suite) error {
	out := bufio.NewWriter(w)
	out.WriteString(xml.Header)
	e := xml.NewEncoder(out)
	e.Indent("", "  ")
	all := wire.Map(suites, func(s Suite) junitSuite {
		timestamp := ""
		if !s.Started.IsZero() {
			timestamp = s.Started.UTC().Format("2006-01-02T15:04:05")
		}
		cases := wire.Map(s.Cases, func(c Case) junitCase { return junitCaseOf(s.Name, c, out) })
		return junitSuite{Name: format.CleanLine(s.Name), Totals: Count(s), Timestamp: timestamp, Cases: cases}
	})
	if err := e.Encode(junitSuites{Name: "rpcx", Totals: Count(suites...), Suites: all}); err != nil {
		return err
	}
	out.WriteString("\n")
	return out.Flush()
}

// junitCaseOf returns one case. Programs that read the report sort cases into a tree by classname. For a case without a
// class, classname is the name of the suite.
func junitCaseOf(suite string, c Case, w *bufio.Writer) junitCase {
	out := junitCase{
		Name: format.CleanLine(c.Name), Class: format.CleanLine(cmp.Or(c.Class, suite)),
		Time: seconds(c.Duration.Seconds()), Stdout: format.Clean(c.Stdout),
	}
	switch c.status() {
	case failed:
		first := c.first()
		out.Failure = &junitFailure{junitMessage{Message: format.CleanLine(first.Message), Type: format.CleanLine(cmp.Or(first.Kind, "failure"))}, c.all(), w}
		if more := c.failures() - 1; more > 0 {
			out.Failure.Message += fmt.Sprintf(" (and %d more)", more)
		}
	case broken:
		out.Error = &junitMessage{Message: format.Clean(c.Error), Type: "error"}
	case skipped:
		out.Skipped = &junitMessage{Message: format.Clean(c.Skipped)}
	}
	return out
}

package report

import (
	"bytes"
	"encoding/json"
	"io"
	"time"

	"rpcx/wire"
)

// The JSON form is specific to rpcx. It contains all members of the structs, on one line.
//
//  {"tests":2,"failed":1,"errors":0,"skipped":0,"seconds":0.5,"suites":[{"name":…,"tests":…,
//   "cases":[{"name":…,"class":…,"status":"failed","seconds":…,"failures":[{"kind":…,"message":…,"detail":…}]}]}]}
//
// status is passed, failed, error or skipped.

type jsonReport struct {
	Totals
	Suites []jsonSuite `json:"suites"`
}

type jsonSuite struct {
	Name    string     `json:"name"`
	Started *time.Time `json:"started,omitempty"`
	Totals
	Cases []jsonCase `json:"cases"`
}

type jsonCase struct {
	Name     string    `json:"name"`
	Class    string    `json:"class,omitempty"`
	Status   status    `json:"status"`
	Seconds  float64   `json:"seconds"`
	Failures []Failure `json:"failures,omitempty"`
	Error    string    `json:"error,omitempty"`
	Skipped  string    `json:"skipped,omitempty"`
	Stdout   string    `json:"stdout,omitempty"`
}

func writeJSON(w io.Writer, suites []Suite) error {
	doc := jsonReport{Totals: Count(suites...), Suites: []jsonSuite{}}
	var later placeholders
	doc.Suites = append(doc.Suites, wire.Map(suites, func(s Suite) jsonSuite { return jsonOf(s, &later) })...)
	b, err := jsonLine(doc)
	if err != nil {
		return err
	}
	return later.write(w, append(b, '\n'))
}

// jsonLine returns v as JSON on one line, in which <, > and & are not escaped.
func jsonLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func jsonOf(s Suite, later *placeholders) jsonSuite {
	out := jsonSuite{Name: s.Name, Totals: Count(s), Cases: []jsonCase{}}
	if !s.Started.IsZero() {
		out.Started = &s.Started
	}
	for _, c := range s.Cases {
		j := jsonCase{Name: c.Name, Class: c.Class, Status: c.status(), Seconds: c.Duration.Seconds(), Error: c.Error, Skipped: c.Skipped, Stdout: c.Stdout}
		if c.failures() > 0 {
			mark := Failure{Message: later.add(func(w io.Writer) error { return jsonFailures(w, c) })}
			whole, _ := jsonLine(mark)
			later.extend(whole)
			j.Failures = []Failure{mark}
		}
		out.Cases = append(out.Cases, j)
	}
	return out
}

func jsonFailures(w io.Writer, c Case) error {
	between := ""
	for f := range c.all() {
		b, err := jsonLine(f)
		if err == nil {
			_, err = w.Write(append([]byte(between), b...))
		}
		if err != nil {
			return err
		}
		between = ","
	}
	return nil
}

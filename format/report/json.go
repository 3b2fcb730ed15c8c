package report

import (
	"bufio"
	"io"
	"iter"
	"slices"
	"time"

	"rpcx/wire/scan"
)

// The JSON form is specific to rpcx. It contains all members of the structs, on one line.
//
//  {"tests":2,"failed":1,"errors":0,"skipped":0,"seconds":0.5,"suites":[{"name":…,"tests":…,
//   "cases":[{"name":…,"class":…,"status":"failed","seconds":…,"failures":[{"kind":…,"message":…}]}]}]}
//
// status is passed, failed, error or skipped.

type jsonSuite struct {
	Name    string     `json:"name"`
	Started *time.Time `json:"started,omitempty"`
	Totals
}

type jsonCase struct {
	Name    string  `json:"name"`
	Class   string  `json:"class,omitempty"`
	Status  status  `json:"status"`
	Seconds float64 `json:"seconds"`
}

// jsonEnd contains the members after the failures of a case.
type jsonEnd struct {
	Error   string `json:"error,omitempty"`
	Skipped string `json:"skipped,omitempty"`
	Stdout  string `json:"stdout,omitempty"`
}

// writeJSON writes the failures one by one, because they may be too many for memory.
func writeJSON(out io.Writer, suites []Suite) error {
	w := bufio.NewWriterSize(out, 64<<10)
	array(w, scan.JSON(Count(suites...)), "suites", slices.Values(suites), func(s Suite) {
		head := jsonSuite{Name: s.Name, Totals: Count(s)}
		if !s.Started.IsZero() {
			head.Started = &s.Started
		}
		array(w, scan.JSON(head), "cases", slices.Values(s.Cases), func(c Case) {
			head, end := scan.JSON(jsonCase{c.Name, c.Class, c.status(), c.Duration.Seconds()}), scan.JSON(jsonEnd{c.Error, c.Skipped, c.Stdout})
			if c.failures() > 0 {
				array(w, head, "failures", c.all(), func(f Failure) { w.Write(scan.JSON(f)) })
			} else {
				w.Write(head[:len(head)-1])
			}
			if string(end) != "{}" {
				end[0] = ','
			} else {
				end = end[1:]
			}
			w.Write(end)
		})
		w.WriteString("}")
	})
	w.WriteString("}\n")
	return w.Flush()
}

// array writes an object without its closing brace, and with an array as a further member, whose elements write writes.
func array[E any](w *bufio.Writer, object []byte, name string, elements iter.Seq[E], write func(e E)) {
	w.Write(object[:len(object)-1])
	separator := `,"` + name + `":[`
	for e := range elements {
		w.WriteString(separator)
		write(e)
		separator = ","
	}
	if separator != "," {
		w.WriteString(separator)
	}
	w.WriteString("]")
}

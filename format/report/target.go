package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"rpcx/format"
	"rpcx/wire"
)

// A Form is a format of reports, by its name on the command line.
type Form string

const (
	TAP   Form = "tap"
	JUnit Form = "junit"
	JSON  Form = "json"
)

// A Target is the value of --report: a form and a file. The zero Target means that there is no report.
type Target struct {
	Form Form
	File string // "" for stdout
}

// Usage is the syntax of the value of --report, for help.
const Usage = "tap|junit|json[=FILE]"

// Set parses the value of --report, FORM or FORM=FILE. FILE can be - for stdout.
func (t *Target) Set(text string) error {
	form, file, named := strings.Cut(text, "=")
	if writers[Form(form)] == nil {
		return fmt.Errorf("%q is not a report format; use tap, junit or json, optionally with =FILE", form)
	}
	if named && file == "" {
		return fmt.Errorf("%q: the file name is missing; write %s=FILE, or %s for standard output", text, form, form)
	}
	if file == "-" {
		file = ""
	}
	*t = Target{Form: Form(form), File: file}
	return nil
}

// Get returns the Target itself.
func (t *Target) Get() any { return *t }

// Wanted reports whether --report was given.
func (t Target) Wanted() bool { return t.Form != "" }

// Stdout reports whether the report is written to stdout, where nothing else may be printed.
func (t Target) Stdout() bool { return t.Wanted() && t.File == "" }

// Write writes the report to stdout or to its file, which it replaces. Without --report, it does nothing. Its error is
// a Fault that names the file or stdout.
func (t Target) Write(stdout io.Writer, suites []Suite) error {
	if !t.Wanted() {
		return nil
	}
	write := writers[t.Form]
	if t.File == "" {
		if err := write(stdout, suites); err != nil {
			return format.StdoutFault(err)
		}
		return nil
	}
	f, err := os.OpenFile(t.File, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err == nil {
		err = cmp.Or(write(f, suites), f.Close())
	}
	if err != nil {
		return wire.NewFault(wire.IO, "--report: "+err.Error(), err)
	}
	return nil
}

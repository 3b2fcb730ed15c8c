package report

import (
	"fmt"
	"io"
	"os"
	"strings"

	"rpcx/format"
	"rpcx/wire"
)

// A Form is a form of report, by its name on the command line.
type Form string

// These are the forms that CI systems read.
const (
	TAP   Form = "tap"
	JUnit Form = "junit"
	JSON  Form = "json"
)

// A Target is the value of --report: a form and a file. It is a flag value. The zero Target means no report.
type Target struct {
	Form Form
	File string // "" for stdout
}

// Usage is the syntax of --report's value in help.
const Usage = "tap|junit|json[=FILE]"

// Parse parses the value of --report, FORM or FORM=FILE. The FILE - is stdout.
func Parse(text string) (Target, error) {
	form, file, named := strings.Cut(text, "=")
	if writers[Form(form)] == nil {
		return Target{}, fmt.Errorf("%q is not a report format; use tap, junit or json, optionally with =FILE", form)
	}
	if named && file == "" {
		return Target{}, fmt.Errorf("%q: the file name is missing; write %s=FILE, or %s for standard output", text, form, form)
	}
	if file == "-" {
		file = ""
	}
	return Target{Form: Form(form), File: file}, nil
}

// Set implements flag.Value.
func (t *Target) Set(text string) error {
	target, err := Parse(text)
	if err == nil {
		*t = target
	}
	return err
}

// Get returns the Target itself.
func (t *Target) Get() any { return *t }

// String returns the value as on a command line.
func (t *Target) String() string {
	switch {
	case t == nil:
		return ""
	case t.File == "":
		return string(t.Form)
	}
	return string(t.Form) + "=" + t.File
}

// Wanted reports whether --report was given.
func (t Target) Wanted() bool { return t.Form != "" }

// Stdout reports whether the report goes to stdout, from which problems for people must stay away.
func (t Target) Stdout() bool { return t.Wanted() && t.File == "" }

// Write writes the report to stdout or its file, which it replaces. Without --report, it does nothing. An error is a
// Fault that names the file or stdout.
func (t Target) Write(stdout io.Writer, suites []Suite) error {
	if !t.Wanted() {
		return nil
	}
	if t.File == "" {
		if err := Write(stdout, t.Form, suites); err != nil {
			return format.StdoutFault(err)
		}
		return nil
	}
	f, err := os.OpenFile(t.File, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err == nil {
		err = Write(f, t.Form, suites)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		return wire.NewFault(wire.IO, "--report: "+err.Error(), err)
	}
	return nil
}

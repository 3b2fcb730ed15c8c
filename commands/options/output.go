package options

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// Output contains the flags for printing and for expectations.
type Output struct {
	Jq          string
	rawStrings  bool
	args        []string
	jsonArgs    []string
	template    string
	decode      string
	output      string
	events      bool
	Raw         bool
	Null        bool
	Pretty      bool
	compact     bool
	expect      []string
	expectAny   []string
	expectNone  []string
	ExpectError string
	expectCount int64
}

// Flags returns the flags of o.
func (o *Output) Flags() []cmdline.Flag {
	o.expectCount = -1
	return []cmdline.Flag{
		cmdline.Text(cmdline.GroupOutput, "jq", "q", "filter each value with the jq program `EXPR`", &o.Jq),
		cmdline.Bool(cmdline.GroupOutput, "raw-output", "r", "print strings without quotes", &o.rawStrings),
		cmdline.List(cmdline.GroupOutput, "arg", "", "`NAME VALUE`: set $NAME to the string VALUE in jq programs", &o.args),
		cmdline.List(cmdline.GroupOutput, "argjson", "", "`NAME VALUE`: set $NAME to the JSON value VALUE in jq programs", &o.jsonArgs),
		cmdline.Text(cmdline.GroupOutput, "template", "", "format values with the Go template in `FILE`; a directory has a template for each content type", &o.template),
		cmdline.Enum(cmdline.GroupOutput, "decode", "decode each value from `base64`, and write the bytes", &o.decode, []string{"base64"}),
		cmdline.Text(cmdline.GroupOutput, "output", "o", "write the data to `FILE` (- for stdout)", &o.output),
		cmdline.Bool(cmdline.GroupOutput, "events", "", "print whole events, including progress and log lines", &o.events),
		cmdline.Bool(cmdline.GroupOutput, "messages", "", "print whole messages, unchanged", &o.Raw),
		cmdline.Bool(cmdline.GroupOutput, "null", "0", "end each value with NUL, not a line feed", &o.Null),
		cmdline.Bool(cmdline.GroupOutput, "pretty", "", "indent JSON, as on a terminal", &o.Pretty),
		cmdline.Bool(cmdline.GroupOutput, "compact", "c", "print each value on one line, as in a pipe", &o.compact),
		cmdline.List(cmdline.GroupExpect, "expect", "", "fail unless the jq program `EXPR` is true for each value, or if there is none (status 4)", &o.expect),
		cmdline.List(cmdline.GroupExpect, "expect-any", "", "fail unless `EXPR` is true for at least one value", &o.expectAny),
		cmdline.List(cmdline.GroupExpect, "expect-none", "", "fail if `EXPR` is true for any value", &o.expectNone),
		cmdline.Text(cmdline.GroupExpect, "expect-error", "", "fail unless the peer returns an error with the code `CODE` (any: any error)", &o.ExpectError),
		cmdline.Number(cmdline.GroupExpect, "expect-count", "fail unless there are exactly `N` values", 0, &o.expectCount),
	}
}

// NewPrinter returns the pipeline that prints to stdout or the file of --output. more contains the options of one
// command.
func NewPrinter(run *env.Env, e endpoint.Endpoint, o *Output, more format.Options) (*format.Pipeline, error) {
	vars, err := o.vars()
	if err != nil {
		return nil, err
	}
	if err := notEmpty(run.Line); err != nil {
		return nil, err
	}
	if err := o.compares(run.Line, more); err != nil {
		return nil, err
	}
	var to io.Writer = &run.Out
	screen := run.Stdout
	switch {
	case o.toFile():
		to, screen = &outputFile{name: o.output}, format.Screen{}
	case e.Address.Scheme == "stdio":
		return nil, run.Line.Usage("with stdio:, rpcx cannot write the data to stdout, which carries messages").
			WithHint("write the data to a file with --output FILE")
	}
	more.Events, more.Raw, more.Null = o.events, o.Raw, o.Null
	more.Pretty = (screen.Terminal || o.Pretty) && !o.compact
	more.Color, more.Terminal = screen.Color, screen.Terminal
	more.JQ, more.Strings, more.Vars, more.Template = o.Jq, o.strings(), vars, o.template
	more.Expect, more.ExpectAny, more.ExpectNone = o.expect, o.expectAny, o.expectNone
	more.ExpectError = o.ExpectError
	if err := o.decodes(run, screen); err != nil {
		return nil, err
	}
	if o.expectCount >= 0 {
		more.ExpectCount = &o.expectCount
	}
	more.Debug = run.Console.Writer(format.FromJQ)
	if run.Stderr.Terminal { // stdout may be a pipe to the same terminal
		more.BeforeWrite = run.Console.Clear
	}
	return format.New(to, more)
}

// strings returns how to print strings.
func (o *Output) strings() format.StringForm {
	switch {
	case o.decode != "":
		return format.FromBase64
	case o.rawStrings:
		return format.AsText
	}
	return format.AsJSON
}

// decodes returns an error for flags that cannot be combined with --decode.
func (o *Output) decodes(run *env.Env, screen format.Screen) error {
	switch {
	case o.decode == "":
		return nil
	case o.rawStrings || o.Raw || o.events || o.Null || o.Pretty || o.compact || o.template != "":
		return run.Line.Usage("--decode writes bytes, and cannot be combined with --messages, --events, --null, --pretty, --compact, --template or -r")
	case screen.Terminal:
		return run.Line.Usage("--decode does not write bytes to a terminal").WithHint("write them to a file with --output FILE, or to a pipe")
	}
	return nil
}

// ForPeople reports whether to print tables in place of JSON, because stdout is a terminal and no flag selects values.
func (o *Output) ForPeople(run *env.Env) bool {
	return run.Stdout.Terminal && !o.toFile() && o.Jq == "" && o.decode == "" && !o.compact && o.template == ""
}

// toFile reports whether the data goes to a file. --output - is stdout.
func (o *Output) toFile() bool { return o.output != "" && o.output != "-" }

// nonEmpty lists the flags that need a value other than "", with a name for the value.
var nonEmpty = []struct{ flag, takes string }{
	{"expect", "a jq program"},
	{"expect-any", "a jq program"},
	{"expect-none", "a jq program"},
	{"until", "a jq program"},
	{"select", "a jq program"},
	{"expect-error", "a code"},
	{"method", "the name of a method"},
	{"record", "a file"},
	{"catalog", "a file"},
	{"template", "a file"},
	{"output", "a file"},
	{"save", "a directory"},
	{"on-open", "a command"},
}

// notEmpty rejects empty values of the flags in nonEmpty. A script with an unset variable must not run without its
// expectation or its file.
func notEmpty(l *cmdline.CommandLine) error {
	for _, c := range nonEmpty {
		if !l.Has(c.flag) {
			continue
		}
		values, many := l.Value(c.flag).([]string)
		if one, ok := l.Value(c.flag).(string); ok && !many {
			values = []string{one}
		}
		for _, v := range values {
			if strings.TrimSpace(v) == "" {
				return l.Usage("--%s needs %s, not an empty value", c.flag, c.takes).WithHint("is a variable in the script unset?")
			}
		}
	}
	return nil
}

// compares returns an error for a condition that assigns ('.a = 1' for '.a == 1'), because it would always be true.
func (o *Output) compares(l *cmdline.CommandLine, more format.Options) error {
	for _, group := range []struct {
		flag    string
		sources []string
	}{
		{"expect", o.expect}, {"expect-any", o.expectAny}, {"expect-none", o.expectNone}, {"until", []string{more.Until}}, {"select", []string{more.Select}},
	} {
		for _, source := range group.sources {
			better, ok := jq.Comparison(source)
			if !ok {
				continue
			}
			f := wire.NewFault(wire.Usage, fmt.Sprintf("--%s %s is an assignment, which is always true", group.flag, wire.Quote(source)), nil)
			f.Hint = "compare with =="
			f.Fix = l.WithFlag("--"+group.flag+"="+source, "--"+group.flag+"="+better)
			return f
		}
	}
	return nil
}

// outputFile is the file of --output. The first write creates it, which prevents an empty file after an early failure.
type outputFile struct {
	name string
	f    *os.File
}

func (o *outputFile) Write(b []byte) (n int, err error) {
	if o.f == nil {
		o.f, err = os.Create(o.name)
	}
	if err == nil {
		n, err = o.f.Write(b)
	}
	if err != nil {
		return n, wire.NewFault(wire.IO, "--output: "+err.Error(), err)
	}
	return n, nil
}

// vars reads --arg and --argjson into the variables of jq programs.
func (o *Output) vars() (map[string]json.RawMessage, error) {
	vars := map[string]json.RawMessage{}
	for _, given := range o.args {
		name, value, err := variable("--arg", given)
		if err != nil {
			return nil, err
		}
		vars[name] = scan.AppendQuoted(nil, value)
	}
	for _, given := range o.jsonArgs {
		name, value, err := variable("--argjson", given)
		if err != nil {
			return nil, err
		}
		if err := scan.Valid([]byte(value), wire.DefaultMaxDepth); err != nil {
			return nil, wire.NewFault(wire.Usage, fmt.Sprintf("--argjson %s: the value is not valid JSON: %v", name, err), err)
		}
		vars[name] = json.RawMessage(value)
	}
	return vars, nil
}

// variable splits NAME=VALUE, which the command line has joined from two words.
func variable(flag, given string) (name, value string, err error) {
	name, value, ok := strings.Cut(given, "=")
	if !ok || !wire.IsName(name) {
		return "", "", wire.NewFault(wire.Usage, fmt.Sprintf("%s: %q is not a valid variable name", flag, name), nil)
	}
	return name, value, nil
}

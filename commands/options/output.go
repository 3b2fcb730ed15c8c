package options

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// Output contains the flags for printing and for expectations, and the options of one command, such as Count.
type Output struct {
	format.Options
	rawStrings  bool
	args        []string
	jsonArgs    []string
	decode      string
	output      string
	compact     bool
	expectCount int64
}

// Flags returns the flags of o.
func (o *Output) Flags() []*cmdline.Flag {
	o.expectCount = -1
	return []*cmdline.Flag{
		cmdline.Text(cmdline.GroupOutput, "jq", "q", "filter each value with the jq program `EXPR`", &o.JQ),
		cmdline.Bool(cmdline.GroupOutput, "raw-output", "r", "print strings without quotes", &o.rawStrings),
		cmdline.List(cmdline.GroupOutput, "arg", "", "`NAME VALUE`: set $NAME to the string VALUE in jq programs", &o.args),
		cmdline.List(cmdline.GroupOutput, "argjson", "", "`NAME VALUE`: set $NAME to the JSON value VALUE in jq programs", &o.jsonArgs),
		cmdline.Text(cmdline.GroupOutput, "template", "", "format values with the Go template in `FILE`; a directory has a template for each content type", &o.Template).Filled("a file"),
		cmdline.Enum(cmdline.GroupOutput, "decode", "decode each value from `base64`, and write the bytes", &o.decode, []string{"base64"}),
		cmdline.Text(cmdline.GroupOutput, "output", "o", "write the data to `FILE` (- for stdout)", &o.output).Filled("a file"),
		cmdline.Bool(cmdline.GroupOutput, "events", "", "print whole events, including progress and log lines", &o.Events),
		cmdline.Bool(cmdline.GroupOutput, "messages", "", "print whole messages, unchanged", &o.Raw),
		cmdline.Bool(cmdline.GroupOutput, "null", "0", "end each value with NUL, not a line feed", &o.Null),
		cmdline.Bool(cmdline.GroupOutput, "pretty", "", "indent JSON, as on a terminal", &o.Pretty),
		cmdline.Bool(cmdline.GroupOutput, "compact", "c", "print each value on one line, as in a pipe", &o.compact),
		cmdline.List(cmdline.GroupExpect, "expect", "", "fail unless the jq program `EXPR` is true for each value, or if there is none (status 4)", &o.Expect).Filled("a jq program"),
		cmdline.List(cmdline.GroupExpect, "expect-any", "", "fail unless `EXPR` is true for at least one value", &o.ExpectAny).Filled("a jq program"),
		cmdline.List(cmdline.GroupExpect, "expect-none", "", "fail if `EXPR` is true for any value", &o.ExpectNone).Filled("a jq program"),
		cmdline.Text(cmdline.GroupExpect, "expect-error", "", "fail unless the peer returns an error with the code `CODE` (any: any error)", &o.ExpectError).Filled("a code"),
		cmdline.Number(cmdline.GroupExpect, "expect-count", "fail unless there are exactly `N` values", 0, &o.expectCount),
	}
}

// WithoutErrors returns flags without --expect-error, for a command that prints no error from the peer.
func WithoutErrors(flags []*cmdline.Flag) []*cmdline.Flag {
	return slices.DeleteFunc(flags, func(f *cmdline.Flag) bool { return f.Name == "expect-error" })
}

// NewPrinter returns the pipeline that prints to stdout or the file of --output.
func NewPrinter(run *env.Env, e endpoint.Endpoint, o *Output) (*format.Pipeline, error) {
	vars, err := o.vars()
	if err != nil {
		return nil, err
	}
	if err := o.compares(run.Line); err != nil {
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
	if err := o.decodes(run, screen); err != nil {
		return nil, err
	}
	p := o.Options
	p.Pretty = (screen.Terminal || o.Pretty) && !o.compact
	p.Color, p.Terminal, p.Vars = screen.Color, screen.Terminal, vars
	switch {
	case o.decode != "":
		p.Strings = format.FromBase64
	case o.rawStrings:
		p.Strings = format.AsText
	}
	if o.expectCount >= 0 {
		p.ExpectCount = &o.expectCount
	}
	p.Debug = run.Console.Writer(format.FromJQ)
	if run.Stderr.Terminal { // stdout may be a pipe to the same terminal
		p.BeforeWrite = run.Console.Clear
	}
	return format.New(to, p)
}

// decodes returns an error for flags that cannot be combined with --decode.
func (o *Output) decodes(run *env.Env, screen format.Screen) error {
	switch {
	case o.decode == "":
		return nil
	case o.rawStrings || o.Raw || o.Events || o.Null || o.Pretty || o.compact || o.Template != "":
		return run.Line.Usage("--decode writes bytes, and cannot be combined with --messages, --events, --null, --pretty, --compact, --template or -r")
	case screen.Terminal:
		return run.Line.Usage("--decode does not write bytes to a terminal").WithHint("write them to a file with --output FILE, or to a pipe")
	}
	return nil
}

// ForPeople reports whether to print tables in place of JSON, because stdout is a terminal and no flag selects values.
func (o *Output) ForPeople(run *env.Env) bool {
	return run.Stdout.Terminal && !o.toFile() && o.JQ == "" && o.decode == "" && !o.compact && o.Template == ""
}

// toFile reports whether the data goes to a file. --output - is stdout.
func (o *Output) toFile() bool { return o.output != "" && o.output != "-" }

// compares returns an error for a condition that assigns ('.a = 1' for '.a == 1'), because it would always be true.
func (o *Output) compares(l *cmdline.CommandLine) error {
	for _, group := range []struct {
		flag    string
		sources []string
	}{
		{"expect", o.Expect}, {"expect-any", o.ExpectAny}, {"expect-none", o.ExpectNone}, {"until", []string{o.Until}}, {"select", []string{o.Select}},
	} {
		for _, source := range group.sources {
			if better, ok := jq.Comparison(source); ok {
				return wire.Usagef("--%s %s is an assignment, which is always true", group.flag, wire.Quote(source)).
					WithFix("compare with ==", l.WithFlag("--"+group.flag+"="+source, "--"+group.flag+"="+better))
			}
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

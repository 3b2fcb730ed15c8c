package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// printer makes the pipeline for stdout, or for --output.
func (a *app) printer(e session.Endpoint, o *outFlags, more format.Options) (*format.Pipeline, error) {
	vars, err := o.vars()
	if err != nil {
		return nil, err
	}
	var to io.Writer = &a.stdout
	screen := a.out
	switch {
	case o.output != "":
		to, screen = &outputFile{name: o.output}, format.Screen{}
	case e.Address.Scheme == "stdio":
		f := a.line.usage("over stdio: stdout carries messages, so the data needs a place of its own")
		f.Hint = "name a file with --output FILE"
		return nil, f
	}
	more.Events, more.Raw, more.Null = o.events, o.raw, o.null
	more.Pretty = (screen.Terminal || o.pretty) && !o.compact
	more.Color, more.Terminal = screen.Color, screen.Terminal
	more.JQ, more.RawStrings, more.Vars, more.Template = o.jq, o.rawStrings, vars, o.template
	more.Expect, more.ExpectAny, more.ExpectNone = o.expect, o.expectAny, o.expectNone
	more.ExpectError = o.expectError
	if o.expectCount >= 0 {
		more.ExpectCount = &o.expectCount
	}
	more.Debug = a.console.Writer()
	if screen.Terminal && a.err.Terminal {
		more.BeforeWrite = a.console.Clear
	}
	return format.New(to, more)
}

// forPeople says that a table may stand for JSON: stdout is a terminal, and no
// flag asks for values.
func (o *outFlags) forPeople(a *app) bool {
	return a.out.Terminal && o.output == "" && o.jq == "" && !o.compact && o.template == ""
}

// outputFile is the file of --output, made when there is something to write.
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

// vars reads --arg and --argjson.
func (o *outFlags) vars() (map[string]json.RawMessage, error) {
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
			return nil, wire.NewFault(wire.Usage, fmt.Sprintf("--argjson %s: the value is no JSON: %v", name, err), err)
		}
		vars[name] = json.RawMessage(value)
	}
	return vars, nil
}

// variable takes NAME=VALUE apart, as the line has put it together.
func variable(flag, given string) (name, value string, err error) {
	name, value, ok := strings.Cut(given, "=")
	if !ok || !isName(name) {
		return "", "", wire.NewFault(wire.Usage, fmt.Sprintf("%s: %q is no name of a variable", flag, name), nil)
	}
	return name, value, nil
}

// isName says that jq takes it for a variable's name.
func isName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

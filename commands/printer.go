package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/scan"
)

// printer makes the pipeline for stdout.
func (a *app) printer(o *outFlags, more format.Options) (*format.Pipeline, error) {
	vars, err := o.vars()
	if err != nil {
		return nil, err
	}
	more.Events, more.Raw, more.Null = o.events, o.raw, o.null
	more.Pretty = (a.out.Terminal || o.pretty) && !o.compact
	more.Color, more.Terminal = a.out.Color, a.out.Terminal
	more.JQ, more.RawStrings, more.Vars, more.Template = o.jq, o.rawStrings, vars, o.template
	more.Expect, more.ExpectAny, more.ExpectNone = o.expect, o.expectAny, o.expectNone
	more.ExpectError = o.expectError
	if o.expectCount >= 0 {
		more.ExpectCount = &o.expectCount
	}
	more.Debug = a.console.Writer()
	if a.out.Terminal && a.err.Terminal {
		more.BeforeWrite = a.console.Clear
	}
	return format.New(os.Stdout, more)
}

// vars reads --arg and --argjson.
func (o *outFlags) vars() (map[string]json.RawMessage, error) {
	vars := map[string]json.RawMessage{}
	for _, given := range o.args {
		name, value, err := variable("--arg", given)
		if err != nil {
			return nil, err
		}
		vars[name] = wire.AppendString(nil, value)
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

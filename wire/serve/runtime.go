package serve

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
)

// RuntimeOptions are the parts of a connection that a runtime may use. The zero
// value is usable.
type RuntimeOptions struct {
	Stderr io.Writer         // receives whole lines of a co-process's stderr; may be nil
	Warn   func(line string) // receives one line for the user; may be nil
}

// RuntimeWords are the ways to evaluate code, as in --runtime.
const RuntimeWords = "jq, or co:COMMAND"

// NewRuntime returns a runtime that evaluates code: in this process for "jq", in a
// co-process for "co:COMMAND". Errors are usage Faults.
func NewRuntime(spec string, o RuntimeOptions) (dialect.Runtime, error) {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if spec == "jq" {
		return newJQ(), nil
	}
	command, ok := strings.CutPrefix(spec, "co:")
	if !ok {
		return nil, wire.NewFault(wire.Usage, fmt.Sprintf("unknown runtime %q; use %s", spec, RuntimeWords), nil)
	}
	if _, err := hook.ParseAnswer(spec); err != nil {
		return nil, err
	}
	return newCo(command, o), nil
}

// invokeFailed returns the error of an evaluation that did not catch the error of an invocation.
func invokeFailed(name string, err error) error {
	var rpc *wire.Error
	if !errors.As(err, &rpc) {
		return err
	}
	return &dialect.EvalError{Message: name + ": " + rpc.Message, Cause: rpc}
}

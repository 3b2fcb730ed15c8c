package serve

import (
	"fmt"
	"io"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
)

// RuntimeOptions are what a connection supplies to its runtime. The zero value is usable.
type RuntimeOptions struct {
	Stderr io.Writer         // receives whole lines of a co-process's stderr; may be nil
	Warn   func(line string) // receives lines for the user; may be nil
}

// RuntimeWords describes the values of --runtime.
const RuntimeWords = "jq or co:COMMAND"

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

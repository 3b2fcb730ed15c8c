package serve

import (
	"encoding/json"
	"errors"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// invoke answers one invocation of the co-process.
func (r *coRuntime) invoke(id int64, run *coEval, invoke json.RawMessage) {
	defer wire.Guard()
	value, err := run.e.Invoke(run.ctx, scan.String(scan.Get(invoke, "name")), scan.Get(invoke, "input"))
	answerCall(id, run, invoke, value, err)
}

// functionValue returns a function value for a binding, which code may use as its value or as an argument.
func functionValue(e dialect.Code, name string) (json.RawMessage, error) {
	switch {
	case e.Function == nil:
		return nil, errors.New("function values are not supported here")
	case !slices.Contains(e.Names, name):
		return nil, wire.NewError(wire.CodeNoMethod, "unknown binding: "+name)
	}
	value := e.Function(name)
	if value == nil {
		return nil, errors.New(name + " is the client's own: it needs no function value")
	}
	return value, nil
}

// answerCall answers a call of the code in an eval, under the call's own number.
func answerCall(id int64, run *coEval, asked, value json.RawMessage, err error) {
	call := scan.OrNull(scan.Get(asked, "call"))
	line := coLine(id)
	line.Add("call", call)
	if err != nil {
		line.Compact("error", wire.AsError(err).JSON())
	} else {
		line.Compact("value", scan.OrNull(value))
	}
	run.process.Send(run.ctx.Done(), append(line.End(), '\n'))
}

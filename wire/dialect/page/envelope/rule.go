package envelope

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// byRule reads a message by one of the page's [[read]] rules; done is false if
// the rule's condition does not hold.
func (c *codec) byRule(r *load.Read, raw []byte, m *wire.Message) (done bool, err error) {
	scope := &program.Scope{}
	if holds, err := r.When.Holds(raw, scope.Value); !holds || err != nil {
		return false, err
	}
	var id, method, params, result, fail json.RawMessage
	for _, part := range []struct {
		prog load.Prog
		to   *json.RawMessage
	}{{r.ID, &id}, {r.Method, &method}, {r.Params, &params}, {r.Result, &result}, {r.Error, &fail}} {
		if *part.to, err = part.prog.First(raw, scope.Value); err != nil {
			return true, err
		}
	}
	name := scan.String(method)
	*m = wire.Message{Method: name, ID: wire.ID(id), Params: notNull(params), Body: notNull(params), Raw: raw}
	switch r.Kind {
	case "request":
		m.Kind = wire.Request
	case "notification":
		m.Kind, m.ID = wire.Notification, nil
	case "cancel":
		m.Kind, m.ID, m.Target = wire.Cancel, nil, wire.ID(id)
	case "response":
		m.Kind, m.Body = wire.Response, result
		if len(fail) > 0 && string(fail) != "null" {
			m.Err, m.Body = jsonrpc.ReadError(fail), nil
		} else if len(result) == 0 {
			m.Body = null
		}
	}
	return true, nil
}

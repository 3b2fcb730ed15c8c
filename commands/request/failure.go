package request

import (
	"fmt"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// rpcFault returns the Fault for an error that the peer answered.
func rpcFault(method string, e *wire.Error) *wire.Fault {
	f := &wire.Fault{
		Kind: wire.RPCError, Method: method, RPC: e, Retryable: e.Retryable,
		Message: fmt.Sprintf("%s: %s", method, errorText(e)),
	}
	if method == "" {
		f.Message = errorText(e)
	}
	return f
}

// errorText returns an error's message and code, with its class where the error
// names one itself.
func errorText(e *wire.Error) string {
	kind, ok := scan.Text(scan.Get(e.Raw, "kind"))
	code, isText := scan.Text(e.Code)
	if !ok || !isText || kind != e.Kind {
		return e.Error()
	}
	return fmt.Sprintf("%s (%s, code %s)", e.Message, kind, code)
}

// named returns err with the name of the call that it ended.
func named(err error, method string) error {
	f := wire.AsFault(err)
	if f == nil || method == "" || f.Method != "" {
		return err
	}
	g := *f
	g.Method = method
	return &g
}

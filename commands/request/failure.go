package request

import (
	"fmt"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// rpcFault is the failure of a call that the peer answered with an error.
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

// errorText is what an error says, with its class where the error itself names
// one.
func errorText(e *wire.Error) string {
	kind, ok := scan.Text(scan.Get(e.Raw, "kind"))
	code, isText := scan.Text(e.Code)
	if !ok || !isText || kind != e.Kind {
		return e.Error()
	}
	return fmt.Sprintf("%s (%s, code %s)", e.Message, kind, code)
}

// named says which call a failure ended.
func named(err error, method string) error {
	f := wire.AsFault(err)
	if f == nil || method == "" || f.Method != "" {
		return err
	}
	g := *f
	g.Method = method
	return &g
}

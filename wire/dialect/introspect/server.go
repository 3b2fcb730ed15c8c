package introspect

import (
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
)

// NewServer returns a server of what b offers.
func NewServer(b dialect.Backend) dialect.Server { return jsonrpc.NewServer(jsonrpc.V2, b) }

package jsonrpc

import _ "embed" // the probes

// What a peer is asked by rpcx validate, in each version.
var (
	//go:embed probes.toml
	probes string
	//go:embed probes1.toml
	probes1 string
)

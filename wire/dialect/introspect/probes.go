package introspect

import _ "embed" // the probes

// probes are what a peer is asked by rpcx validate.
//
//go:embed probes.toml
var probes string

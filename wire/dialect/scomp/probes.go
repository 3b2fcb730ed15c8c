package scomp

import _ "embed" // the probes

// probes are the checks that rpcx validate makes of a peer.
//
//go:embed probes.toml
var probes string

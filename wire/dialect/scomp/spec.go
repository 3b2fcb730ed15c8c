package scomp

import (
	_ "embed" // the rules and the probes

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// What rpcx validate compares a peer with, and what it asks the peer.
var (
	//go:embed rules.toml
	rules string
	//go:embed probes.toml
	probes string
)

// Spec returns this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name:          "scomp",
		NewCodec:      NewCodec,
		NewServer:     NewServer,
		Shape:         Shape,
		JSONRPCMember: true,
		Transport:     dialect.Transport{Subprotocols: Subprotocols(), Binary: wire.BinaryRefuse, ServerBinary: wire.BinaryRefuse, Duplex: true},
		Names:         dialect.Names{Check: CheckName},
		Params:        dialect.Params{Scalar: true, Functions: true, Typed: true},
		Validation:    dialect.Validation{Rules: rules, Probes: probes},
		Bridge:        dialect.Bridging{NoStreams: true},
		Handshake:     dialect.Handshake{Introduces: true, Metadata: true, Resumes: true},
		Detection:     &dialect.Detection{First: []string{`"kind": *"HandshakeError"`}},
		Evaluation:    &dialect.Evaluation{Runtime: true},
		Streams:       dialect.Streams{NoCancel: true},
	}
}

package scomp

import (
	_ "embed" // the rules

	"rpcx/wire"
	"rpcx/wire/dialect"
)

//go:embed rules.toml
var rules string

// Spec returns this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name:              "scomp",
		Signature:         `"kind": *"HandshakeError"`,
		Rules:             rules,
		NewCodec:          NewCodec,
		Shape:             Shape,
		Probes:            probes,
		NewServer:         NewServer,
		CheckName:         CheckName,
		Subprotocols:      Subprotocols(),
		Binary:            wire.BinaryRefuse,
		ServerBinary:      wire.BinaryRefuse,
		Duplex:            true,
		JSONRPCMember:     true,
		FunctionValues:    true,
		ScalarParams:      true,
		TypedParams:       true,
		Evals:             true,
		NoCancel:          true,
		HandshakeMetadata: true,
		Bridge:            dialect.Bridging{NoStreams: true},
	}
}

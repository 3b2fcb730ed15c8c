package scomp

import (
	"rpcx/wire"
	"rpcx/wire/dialect"
)

// Spec is this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name:              "scomp",
		NewCodec:          NewCodec,
		Shape:             Shape,
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
	}
}

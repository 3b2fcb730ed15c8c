package scomp

import (
	_ "embed" // the rules and the probes
	"fmt"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
)

// rpcx validate uses these rules and probes.
var (
	//go:embed rules.toml
	rules string
	//go:embed probes.toml
	probes string
)

// settings are values that a client sends in the handshake.
var settings = []dialect.Setting{
	{Name: "metadata", Type: "object", Handshake: true, Says: "the client's description of itself, such as metadata.user=ada"},
}

// Spec returns this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name:          "scomp",
		NewCodec:      NewCodec,
		NewServer:     NewServer,
		Shape:         Shape,
		JSONRPCMember: true,
		Transport:     dialect.Transport{Subprotocols: []string{subprotocol}, Binary: wire.BinaryRefuse, ServerBinary: wire.BinaryRefuse, Duplex: true},
		Names:         dialect.Names{Check: CheckName},
		Params:        dialect.Params{Scalar: true, Functions: true, Typed: true, Settings: settings},
		Validation:    dialect.Validation{Rules: rules, Probes: probes},
		Bridge:        dialect.Bridging{NoStreams: true, Client: dialect.ClientHandshake{Begins: true, Declares: true}, Calls: true},
		Handshake:     dialect.Handshake{Introduces: true, Resumes: true},
		Detection: &dialect.Detection{
			First: []string{`"kind": *"HandshakeError"`},
			Probe: &dialect.Probe{
				Send: fmt.Sprintf(`{jsonrpc: "2.0", id: $id, method: %q, params: {protocol: %q, bindings: []}}`, handshake, protocol),
				Is: `((.error | objects | .data | objects | .kind == "HandshakeError") // false)
					or $request.method? == "` + handshake + `" and ((.result | objects | has("protocol") and has("bindings")) // false)`,
				Session: true,
			},
		},
		Evaluation: &dialect.Evaluation{Runtime: true},
		Streams:    dialect.Streams{NoCancel: true},
	}
}

// Shape describes scomp's messages for tapes. A server assigns the ids of its sessions. Each side assigns the ids of
// its function values.
func Shape() dialect.Shape {
	s := jsonrpc.Shape(jsonrpc.V2)
	s.MadeUp = slices.Concat(s.MadeUp, []dialect.Place{
		{Method: handshake, Pointer: "/result/sessionId"},
		{Method: handshake, Pointer: "/params/metadata/sessionId"},
		{Method: invokeWord, Pointer: "/params/ref"},
		{Method: invokeWord, Pointer: "/params/function"},
		{Method: releaseWord, Pointer: "/params/ref"},
		{Method: releaseWord, Pointer: "/params/id"},
		{Method: releaseWord, Pointer: "/params/refs/*"},
	}, dialect.Places("/**/$fn", "/**/$function"))
	s.Varies = slices.Concat(s.Varies, []dialect.Place{
		{Method: handshake, Pointer: "/params/metadata/client/**"},
		{Method: handshake, Pointer: "/result/metadata/server/version"},
	}, dialect.Places("/error/data/stack"))
	return s
}

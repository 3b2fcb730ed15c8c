package scriptling

import (
	_ "embed" // the rules and the probes

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
		Name:          "scriptling",
		NewCodec:      NewCodec,
		NewServer:     NewServer,
		Shape:         Shape,
		JSONRPCMember: true,
		Transport:     dialect.Transport{Framing: "concat"},
		Params:        dialect.Params{Functions: true},
		Validation:    dialect.Validation{Rules: rules, Probes: probes},
		Bridge:        dialect.Bridging{Name: functionName, Alone: isFunction, Plain: plainParams, NoStreams: true},
		Handshake:     dialect.Handshake{Plugin: true},
		Detection: &dialect.Detection{Probe: &dialect.Probe{
			Send:    `{jsonrpc: "2.0", id: $id, method: "` + methodHandshake + `", params: ` + string(helloParams()) + `}`,
			Is:      `$request.method? == "` + methodHandshake + `" and ((.result | objects | has("library") and has("protocol")) // false)`,
			Session: true,
		}},
	}
}

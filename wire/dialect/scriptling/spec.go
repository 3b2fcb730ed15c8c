package scriptling

import (
	_ "embed" // the rules

	"rpcx/wire/dialect"
)

//go:embed rules.toml
var rules string

// Spec returns this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name: "scriptling",
		NewCodec: func(o dialect.CodecOptions) dialect.Codec {
			return NewCodec(Options{
				OneWay: o.OneWay, NoEnvironment: o.NoEnvironment, ShutdownTimeout: o.ShutdownTimeout, MaxDepth: o.MaxDepth,
				Greeted: o.Greeted,
			})
		},
		NewServer:     NewServer,
		Shape:         Shape,
		JSONRPCMember: true,
		Transport:     dialect.Transport{Framing: "concat"},
		Params:        dialect.Params{Functions: true},
		Validation:    dialect.Validation{Rules: rules, Probes: probes},
		Bridge:        dialect.Bridging{Name: functionName, Alone: isFunction, Plain: plainParams, NoStreams: true},
		Handshake:     dialect.Handshake{Plugin: true},
	}
}

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
		Name:  "scriptling",
		Rules: rules,
		NewCodec: func(o dialect.CodecOptions) dialect.Codec {
			return NewCodec(Options{
				OneWay: o.OneWay, NoEnvironment: o.NoEnvironment, ShutdownTimeout: o.ShutdownTimeout, MaxDepth: o.MaxDepth,
				Greeted: o.Greeted,
			})
		},
		Shape:          Shape,
		Probes:         probes,
		NewServer:      NewServer,
		Framing:        "concat",
		JSONRPCMember:  true,
		FunctionValues: true,
		Plugin:         true,
		Bridge:         dialect.Bridging{Name: functionName, Alone: isFunction, Plain: plainParams, NoStreams: true},
	}
}

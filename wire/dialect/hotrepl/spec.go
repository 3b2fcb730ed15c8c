package hotrepl

import (
	"rpcx/wire"
	"rpcx/wire/dialect"
)

// Spec is this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name:         "hotrepl",
		NewCodec:     func(o dialect.CodecOptions) dialect.Codec { return NewCodec(Options{MaxDepth: o.MaxDepth}) },
		Shape:        Shape,
		NewServer:    NewServer,
		ServerBinary: wire.BinaryIgnore,
		Duplex:       true,
		TypedParams:  true,
		Evals:        true,
		LiveEval:     true,
		OneClient:    true,

		LocalArtifacts: true,
		Jobs:           dialect.OwnJobs,
	}
}

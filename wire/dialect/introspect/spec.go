package introspect

import (
	_ "embed" // the rules
	"encoding/json"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

//go:embed rules.toml
var rules string

// Spec returns this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name:    "introspect",
		Rules:   rules,
		Answers: []string{schemaMethod, moduleSchemaMethod, hashMethod},
		NewCodec: func(o dialect.CodecOptions) dialect.Codec {
			return NewCodec(Options{MaxDepth: o.MaxDepth, Discovery: o.Discovery})
		},
		Shape:         Shape,
		Probes:        probes,
		NewServer:     NewServer,
		JSONRPCMember: true,
		TypedParams:   true,
		ParamStyles:   paramStyles,
		CheckName:     CheckName,
		Method:        WireName,
		ModuleOf:      moduleOf,
		Asks:          schemaMethod,
		Answered:      func(result json.RawMessage) bool { return scan.Type(result) == 's' },
		Bridge:        dialect.Bridging{Name: listableName, Described: true, Objects: true},
		Catalog:       catalog.Conventions{CallsStream: true, WrappedParams: true, RunnableExamples: true},
		NoDescription: "no service_schema",
		CachedCatalog: cachedCatalog,
	}
}

// moduleOf returns the module of a method's name on the wire.
func moduleOf(method string) string {
	module, _ := Split(method)
	return module
}

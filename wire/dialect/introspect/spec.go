package introspect

import (
	_ "embed" // the rules and the probes
	"fmt"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// These are the rules and probes of rpcx validate.
var (
	//go:embed rules.toml
	rules string
	//go:embed probes.toml
	probes string
)

// Spec returns this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name:          "introspect",
		NewCodec:      NewCodec,
		NewServer:     NewServer,
		Shape:         Shape,
		JSONRPCMember: true,
		Names:         dialect.Names{Check: CheckName, Wire: WireName},
		Params:        dialect.Params{Styles: paramStyles, Typed: true},
		Catalog:       catalog.Conventions{CallsStream: true, WrappedParams: true, RunnableExamples: true},
		Validation:    dialect.Validation{Rules: rules, Probes: probes},
		Bridge:        dialect.Bridging{Name: listableName, Described: true, Objects: true, Progress: true, Cancels: dialect.Always},
		Detection: &dialect.Detection{Probe: &dialect.Probe{
			Send: fmt.Sprintf(`{jsonrpc: "2.0", id: $id, method: %q}`, schemaMethod),
			Is:   `(.params | objects | has("subscription") and (.result | objects | has("service_hash") and has("provenance"))) // false`,
		}},
		Discovery: &dialect.Discovery{
			Answers: []string{schemaMethod, moduleSchemaMethod, hashMethod},
			Missing: "no service_schema",
			Module:  moduleOf,
			Cached:  cachedCatalog,
		},
	}
}

// moduleOf returns the module of a method's name on the wire.
func moduleOf(method string) string {
	module, _ := Split(method)
	return module
}

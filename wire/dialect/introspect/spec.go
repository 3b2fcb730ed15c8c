package introspect

import (
	_ "embed" // the rules and the probes
	"fmt"
	"slices"

	"rpcx/wire/catalog"
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
		Bridge:        dialect.Bridging{Name: listableName, Described: true, Objects: true, Progress: dialect.AlwaysProgress, Cancels: dialect.Always},
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

// moduleOf returns the module in a wire name.
func moduleOf(method string) string {
	module, _ := Split(method)
	return module
}

// Shape describes this dialect's messages for tapes. Every response with a result that is not an object contains the id
// of a subscription.
func Shape() dialect.Shape {
	s := jsonrpc.Shape(jsonrpc.V2)
	s.MadeUp = slices.Concat(s.MadeUp, dialect.Places("/result"), []dialect.Place{{Method: "service_unsubscribe", Pointer: "/params/**"}})
	s.Varies = slices.Concat(s.Varies, dialect.Places("/params/result/service_hash", "/params/result/data/hash"))
	s.Discovery = []string{schemaMethod}
	return s
}

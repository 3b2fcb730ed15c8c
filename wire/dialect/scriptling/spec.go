package scriptling

import (
	_ "embed" // the rules and the probes
	"encoding/json"
	"fmt"

	"rpcx/wire/dialect"
	"rpcx/wire/scan"
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
		Name:          "scriptling",
		NewCodec:      NewCodec,
		NewServer:     NewServer,
		Shape:         Shape,
		JSONRPCMember: true,
		Transport:     dialect.Transport{Framing: "concat"},
		Names:         dialect.Names{New: newObject},
		Params:        dialect.Params{Functions: true},
		Validation:    dialect.Validation{Rules: rules, Probes: probes},
		Bridge:        dialect.Bridging{Name: functionName, Alone: isFunction, ByPosition: true, Plain: plainParams, Same: sameCall, NoStreams: true, Calls: true},
		Handshake:     dialect.Handshake{Plugin: true},
		Detection: &dialect.Detection{Probe: &dialect.Probe{
			Send:    fmt.Sprintf(`{jsonrpc: "2.0", id: $id, method: %q, params: %s}`, methodHandshake, helloParams()),
			Is:      `$request.method? == "` + methodHandshake + `" and ((.result | objects | has("library") and has("protocol")) // false)`,
			Session: true,
		}},
	}
}

// newObject returns the method and the params that make an object of a class. params are
// the arguments of its constructor, as an array or by name.
func newObject(class string, params json.RawMessage) (method string, all json.RawMessage) {
	var o scan.Object
	o.Text("class", class)
	switch scan.Type(params) {
	case 'a':
		o.Add("args", params)
	case 'o':
		o.Add("kwargs", params)
	}
	return methodNew, o.End()
}

package scriptling

import (
	_ "embed" // the rules and the probes
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
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
			Send:    fmt.Sprintf(`{jsonrpc: "2.0", id: $id, method: %q, params: %s}`, methodHandshake, handshakeParams()),
			Is:      `$request.method? == "` + methodHandshake + `" and ((.result | objects | has("library") and has("protocol")) // false)`,
			Session: true,
		}},
	}
}

// newObject returns the method and the params that create an object of a class. params are the constructor's arguments,
// as an array or by name.
func newObject(class string, params json.RawMessage) (method string, all json.RawMessage) {
	var o scan.Object
	o.Text("class", class)
	if member := argumentsIn[scan.Type(params)]; member != "" {
		o.Add(member, params)
	}
	return methodNew, o.End()
}

// Shape describes the plugin protocol's messages for tapes. A plugin assigns the ids of its objects, and a host assigns
// the ids of its callbacks.
func Shape() dialect.Shape {
	s := jsonrpc.Shape(jsonrpc.V2)
	s.MadeUp = slices.Concat(s.MadeUp, dialect.Places("/params/object_id", "/**/callback/id", "/**/remote/id"), []dialect.Place{
		{Method: "object.new", Pointer: "/result/id"}, {Method: "callback.call", Pointer: "/params/id"},
	})
	s.Varies = slices.Concat(s.Varies, []dialect.Place{
		{Method: "scriptling.handshake", Pointer: "/params/host"}, {Method: "scriptling.handshake", Pointer: "/params/host_version"},
	})
	return s
}

// keywords are the words of the language that cannot be the name of a function.
const keywords = " False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield "

// functionName returns a plugin's name for a method of another dialect. "_" replaces characters that an identifier
// cannot contain, and is appended to a keyword.
func functionName(method string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == '_', r >= '0' && r <= '9', r|0x20 >= 'a' && r|0x20 <= 'z':
			return r
		}
		return '_'
	}, strings.ToValidUTF8(method, "_"))
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	if strings.Contains(keywords, " "+name+" ") {
		name += "_"
	}
	return name
}

// isFunction reports whether the plugin itself answers m. It excludes the methods of a class, which need an object, and
// functions whose source runs in the host.
func isFunction(m *catalog.Method) bool {
	return !strings.Contains(m.Name, ".") && scan.Get(m.Extra, "source") == nil
}

// plainParams returns a call's arguments as params: an object for keyword arguments or an array for positional
// arguments.
func plainParams(params json.RawMessage) (json.RawMessage, error) {
	args, kwargs := scan.Get(params, "args"), scan.Get(params, "kwargs")
	named, placed := scan.Type(kwargs) == 'o' && scan.Count(kwargs) > 0, scan.Type(args) == 'a' && scan.Count(args) > 0
	switch {
	case named && placed:
		return nil, wire.NewError(wire.CodeInvalidParams, "the peer takes arguments by position or by name, not both")
	case named:
		return kwargs, nil
	case placed:
		return args, nil
	}
	return nil, nil
}

// sameCall returns the function.call with the arguments of a request.
func sameCall(name string, params json.RawMessage) (method string, same json.RawMessage) {
	var o scan.Object
	o.Text("name", name)
	for _, member := range []string{"args", "kwargs"} {
		if given := scan.Get(params, member); given != nil && scan.Count(given) > 0 {
			o.Add(member, given)
		}
	}
	return methodCall, o.End()
}

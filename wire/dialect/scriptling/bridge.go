package scriptling

import (
	"encoding/json"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// keywords of the language cannot be names of functions.
const keywords = " False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield "

// functionName returns the name under which a plugin offers a method of another dialect. Characters that an identifier
// cannot contain become "_", and a keyword gets one at its end.
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

// isFunction reports whether m is a function that the plugin answers itself, rather than a method of a class, which
// needs an object, or a function whose source the host runs.
func isFunction(m *catalog.Method) bool {
	return !strings.Contains(m.Name, ".") && scan.Get(m.Extra, "source") == nil
}

// plainParams returns the arguments of a call as params: keyword arguments are an
// object, positional ones an array.
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

// sameCall returns the call of a function with the arguments of a request.
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

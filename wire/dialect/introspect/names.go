package introspect

import (
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
)

// CheckName refuses a method that cannot be one of the protocol: module_method,
// the module in lower case letters and digits, the method with underscores too.
// Where it is to be subscribed to, the names of other pub/sub servers are taken
// that tell how the stream is ended.
func CheckName(method string, subscribe bool) error {
	if isName(WireName(method)) {
		return nil
	}
	if _, known := jsonrpc.UnsubscribeName(method); known && subscribe {
		return nil
	}
	return &wire.Fault{
		Kind: wire.Usage, Method: method,
		Message: fmt.Sprintf("%q is no method: one is module_method, in lower case letters, digits and _", method),
		Hint:    "--no-check sends it all the same",
	}
}

func isName(name string) bool {
	module, method := Split(name)
	return module != "" && method != "" && only(module, false) && only(method, true)
}

// only says that s is lower case letters and digits, with underscores or
// without.
func only(s string, underscores bool) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '_' || !underscores) {
			return false
		}
	}
	return true
}

// WireName is a method's name as it is sent: of module.method, module_method.
func WireName(method string) string {
	module, name, dotted := strings.Cut(method, ".")
	if dotted && module != "" && !strings.Contains(name, ".") && isName(module+"_"+name) {
		return module + "_" + name
	}
	return method
}

// Split takes a name of the wire apart, at its first underscore; method is ""
// where there is none.
func Split(name string) (module, method string) {
	module, method, _ = strings.Cut(name, "_")
	return module, method
}

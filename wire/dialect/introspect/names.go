package introspect

import (
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
)

// CheckName refuses a method name that the protocol cannot have. A name is
// module_method: the module in lower case letters and digits, the method with
// underscores too. With subscribe set, names of other pub/sub servers are
// accepted as well if they follow a pattern that tells how to unsubscribe.
// The error is a usage Fault.
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

// only reports whether s consists of lower case letters and digits, and of
// underscores where those are allowed.
func only(s string, underscores bool) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '_' || !underscores) {
			return false
		}
	}
	return true
}

// WireName returns the name that is sent for what a user typed: module.method
// becomes module_method, every other name stays as it is.
func WireName(method string) string {
	module, name, dotted := strings.Cut(method, ".")
	if dotted && module != "" && !strings.Contains(name, ".") && isName(module+"_"+name) {
		return module + "_" + name
	}
	return method
}

// Split cuts a wire name at its first underscore into module and method. method
// is "" if there is no underscore.
func Split(name string) (module, method string) {
	module, method, _ = strings.Cut(name, "_")
	return module, method
}

package introspect

import (
	"cmp"
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
)

// CheckName returns a usage Fault for a method name that no service can have. A name is module_method: the module
// consists of letters and digits; the method may also contain underscores. The specification requires lower-case
// letters; CheckName also accepts upper-case letters, because some services list such names. With subscribe set, it
// also accepts names that match a pattern of other pub/sub servers, because the method for unsubscribing is then known.
func CheckName(method string, subscribe bool) error {
	if isListable(WireName(method)) {
		return nil
	}
	if _, known := jsonrpc.UnsubscribeName(method); known && subscribe {
		return nil
	}
	return &wire.Fault{
		Kind: wire.Usage, Method: method,
		Message: fmt.Sprintf("%q is not a valid method name: write module_method, with lower-case letters, digits and _", method),
		Hint:    "--no-check sends it anyway",
	}
}

// isListable reports whether a module can list a method called name.
func isListable(name string) bool {
	module, method := Split(name)
	return module != "" && method != "" && only(module, "") && only(method, "_.-")
}

// only reports whether s consists of letters, digits and the characters in others.
func only(s, others string) bool {
	for _, c := range []byte(s) {
		if lower := c | 0x20; (lower < 'a' || lower > 'z') && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}

// WireName returns the wire name of a typed name: module.method becomes module_method, and any other name stays
// unchanged.
func WireName(method string) string {
	module, name, dotted := strings.Cut(method, ".")
	if dotted && module != "" && !strings.Contains(name, ".") && isListable(module+"_"+name) {
		return module + "_" + name
	}
	return method
}

// Split splits a wire name at its first underscore into module and method. Without an underscore, method is "".
func Split(name string) (module, method string) {
	module, method, _ = strings.Cut(name, "_")
	return module, method
}

// listableName returns a service's name for a method of another dialect: lower-case words joined by "_", which also
// replaces invalid characters. A name without a module gets the module "call".
func listableName(method string) string {
	var b strings.Builder
	lower := false // the last character was a lower-case letter or a digit
	for _, r := range strings.ToValidUTF8(method, "_") {
		upper := r >= 'A' && r <= 'Z'
		switch {
		case upper:
			if lower {
				b.WriteByte('_')
			}
			r |= 0x20
		case r >= 0x80 || !only(string(r), "_"):
			r = '_'
		}
		b.WriteRune(r)
		lower = r != '_' && !upper
	}
	name := b.String()
	if isListable(name) && strings.ContainsFunc(method, func(r rune) bool { return r >= 0x80 || !only(string(r), "") }) {
		return name
	}
	return "call_" + cmp.Or(strings.TrimLeft(name, "_"), "method")
}

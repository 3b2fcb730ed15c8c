package catalog

import (
	"slices"

	"rpcx/wire/scan"
)

// ReadOnlyHints lists the hints that declare that a method changes nothing.
var ReadOnlyHints = []string{"readOnly", "readOnlyHint", "read_only", "safe"}

// Annotations is the member of a method's Extra that contains hints of MCP tools.
const Annotations = "annotations"

// Hint reports whether the hint name of m is true.
func (m *Method) Hint(name string) bool {
	return string(scan.Get(m.Hints, name)) == "true" || string(scan.Get(scan.Get(m.Extra, Annotations), name)) == "true"
}

// ReadOnly reports whether the peer declares that m changes nothing.
func (m *Method) ReadOnly() bool {
	return slices.ContainsFunc(ReadOnlyHints, m.Hint) || len(m.Effects) > 0 && !slices.ContainsFunc(m.Effects, func(e string) bool { return e != "read" })
}

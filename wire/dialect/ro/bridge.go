package ro

import (
	"encoding/json"
	"strings"

	"rpcx/wire/scan"
)

// targeted separates the target and the parent from the params of a caller
// whose dialect has no members for them.
func targeted(params json.RawMessage) (extra, rest json.RawMessage) {
	if scan.Type(params) != 'o' {
		return nil, params
	}
	var about, others scan.Object
	for key, val := range scan.Named(params) {
		if key == "target" || key == "parent" {
			about.Add(key, val)
		} else {
			others.Add(key, val)
		}
	}
	if about.Empty() {
		return nil, params
	}
	return about.End(), others.EndOrNil()
}

// hasNoResource reports whether a method does not belong to a resource. Its requests then have no fields, and one response.
func hasNoResource(method string) bool { return !strings.ContainsAny(method, ".:") }

// dottedName returns the wire name for a method of another dialect. A colon stands for the dot before a verb. In any
// other place, no name can contain it.
func dottedName(method string) string {
	if name := WireName(method); Name(name) == Name(method) {
		return name
	}
	return strings.ReplaceAll(method, ":", "_")
}

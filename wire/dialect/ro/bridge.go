package ro

import (
	"encoding/json"

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

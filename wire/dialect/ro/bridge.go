package ro

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// targeted takes what a request is about, its target and its parent, off the params of
// a caller whose dialect has no such members.
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

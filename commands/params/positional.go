package params

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// Positional turns params that are an object into an array of its values, in the order of the names in t's schema. null
// fills the gaps. If the schema lacks some of the names, the values keep their own order. Other params are returned
// unchanged.
func Positional(params json.RawMessage, t Typer) json.RawMessage {
	if scan.Type(params) != 'o' {
		return params
	}
	place := map[string]int{}
	if t != nil {
		for i, name := range t.Properties() {
			place[name] = i
		}
	}
	var given, own []json.RawMessage
	known := true
	for key, val := range scan.Members(params) {
		own = append(own, val)
		i, found := place[scan.Key(key)]
		if !found {
			known = false
			continue
		}
		for len(given) <= i {
			given = append(given, json.RawMessage("null"))
		}
		given[i] = val
	}
	if known {
		return scan.ArrayOf(given...)
	}
	return scan.ArrayOf(own...)
}

package params

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Positional is the values of params alone, where it is an object: in the order
// in which t's schema lists the names, null standing for those that are not
// given before the last; in their own order where nothing is known, and where a
// name is not. Anything else is returned as it is.
func Positional(params json.RawMessage, t Typer) json.RawMessage {
	if scan.Type(params) != 'o' {
		return params
	}
	var order []string
	if o, ok := t.(interface{ Properties() []string }); ok {
		order = o.Properties()
	}
	place := map[string]int{}
	for i, name := range order {
		place[name] = i
	}
	var given, own []json.RawMessage
	known := true
	m := scan.Object(params, wire.DefaultMaxDepth)
	for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
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
		return array(given)
	}
	return array(own)
}

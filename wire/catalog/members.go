package catalog

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// A member is one member of an object, unchanged.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of an object in order. ok is false if raw is not an object.
func members(raw json.RawMessage) (list []member, ok bool) {
	if !json.Valid(raw) || scan.Type(scan.Trim(raw)) != 'o' {
		return nil, false
	}
	for name, value := range scan.Named(raw) {
		list = append(list, member{name, value})
	}
	return list, true
}

// object returns an object with these members.
func object(list []member) json.RawMessage {
	var o scan.Object
	for _, m := range list {
		o.Add(m.key, m.value)
	}
	return o.End()
}

// Keys returns the names of an object's members in order, or nil if obj is not an object.
func Keys(obj json.RawMessage) []string {
	var keys []string
	for name := range scan.Named(obj) {
		keys = append(keys, name)
	}
	return keys
}

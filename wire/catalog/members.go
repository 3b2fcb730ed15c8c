package catalog

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// A member is one member of an object, as it stands there.
type member struct {
	key   string
	value json.RawMessage
}

// members lists the members of an object in order; ok is false where raw is no
// object.
func members(raw json.RawMessage) (list []member, ok bool) {
	if !json.Valid(raw) || scan.Type(scan.Trim(raw)) != 'o' {
		return nil, false
	}
	for name, value := range scan.Named(raw) {
		list = append(list, member{name, value})
	}
	return list, true
}

// object makes an object of members.
func object(list []member) json.RawMessage {
	var o scan.Object
	for _, m := range list {
		o.Add(m.key, m.value)
	}
	return o.End()
}

// Keys lists the names of an object's members in their order; nil where obj is
// no object.
func Keys(obj json.RawMessage) []string {
	var keys []string
	for name := range scan.Named(obj) {
		keys = append(keys, name)
	}
	return keys
}

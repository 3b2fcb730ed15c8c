package scomp

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// firstOf returns the value of the first of words that is a member of obj, or nil.
func firstOf(obj []byte, words []string) json.RawMessage {
	for _, word := range words {
		if val := scan.Get(obj, word); val != nil {
			return val
		}
	}
	return nil
}

// lastMember returns the value of the member with that name. If the member is repeated, the last one counts.
func lastMember(msg []byte, name string) json.RawMessage {
	var last json.RawMessage
	for key, val := range scan.Named(msg) {
		if key == name {
			last = val
		}
	}
	return last
}

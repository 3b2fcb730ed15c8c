package scomp

import (
	"encoding/json"
	"strconv"
	"strings"

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

// put returns doc with val at a JSON pointer. ok is false if the pointer does not exist in doc.
func put(doc []byte, pointer string, val []byte) (out []byte, ok bool) {
	if pointer == "" {
		return val, true
	}
	token, rest, more := strings.Cut(pointer[1:], "/")
	if more {
		rest = "/" + rest
	}
	token = scan.Unescape(token)
	switch scan.Type(doc) {
	case 'o':
		inner := scan.Get(doc, token)
		if inner == nil {
			return nil, false
		}
		if inner, ok = put(inner, rest, val); !ok {
			return nil, false
		}
		return scan.Splice(doc, token, inner), true
	case 'a':
		return putElement(doc, token, rest, val)
	}
	return nil, false
}

func putElement(list []byte, token, rest string, val []byte) (out []byte, ok bool) {
	n, err := strconv.Atoi(token)
	if err != nil {
		return nil, false
	}
	var all scan.Array
	i := 0
	for inner := range scan.Elements(list) {
		if i == n {
			if inner, ok = put(inner, rest, val); !ok {
				return nil, false
			}
		}
		all.Add(inner)
		i++
	}
	return all.End(), ok
}

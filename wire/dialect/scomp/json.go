package scomp

import (
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"rpcx/wire/scan"
)

// deep is the depth for values that were checked before.
const deep = 1 << 16

// members goes through the members of an object; of anything else there are
// none.
func members(obj []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		m := scan.Object(obj, deep)
		for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
			if !yield(scan.Key(key), val) {
				return
			}
		}
	}
}

// elements goes through the elements of an array; of anything else there are
// none.
func elements(list []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		m := scan.Array(list, deep)
		for _, val, ok := m.Next(); ok; _, val, ok = m.Next() {
			if !yield(val) {
				return
			}
		}
	}
}

// first is the value of the first of words that obj has.
func first(obj []byte, words []string) json.RawMessage {
	for _, word := range words {
		if val := scan.Get(obj, word); val != nil {
			return val
		}
	}
	return nil
}

// lastMember is the value of the last member of that name: the one that counts
// in a message, as it did when that was decoded.
func lastMember(msg []byte, name string) json.RawMessage {
	var last json.RawMessage
	for key, val := range members(msg) {
		if key == name {
			last = val
		}
	}
	return last
}

// text is the string that val is, "" where it is none.
func text(val []byte) string {
	s, _ := scan.Text(val)
	return s
}

// member appends a member to an object that is not closed yet.
func member(b []byte, key string, val []byte) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(append(scan.AppendQuoted(b, key), ':'), val...)
}

// put returns doc with what is at a JSON pointer replaced by val; ok is false
// where nothing is there.
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
	out = []byte{'['}
	i := 0
	for inner := range elements(list) {
		if i > 0 {
			out = append(out, ',')
		}
		if i == n {
			changed, fits := put(inner, rest, val)
			if !fits {
				return nil, false
			}
			inner, ok = changed, true
		}
		out = append(out, inner...)
		i++
	}
	return append(out, ']'), ok
}

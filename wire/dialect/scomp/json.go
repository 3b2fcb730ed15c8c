package scomp

import (
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"rpcx/wire/scan"
)

// deep is the nesting limit for values that were checked against the user's
// limit when they were decoded.
const deep = 1 << 16

// members yields the members of an object; none for anything else.
func members(obj []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for key, val := range scan.Members(obj) {
			if !yield(scan.Key(key), val) {
				return
			}
		}
	}
}

// elements yields the elements of an array; none for anything else.
func elements(list []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for val := range scan.Elements(list) {
			if !yield(val) {
				return
			}
		}
	}
}

// firstOf returns the value of the first of words that is a member of obj; nil
// if none is.
func firstOf(obj []byte, words []string) json.RawMessage {
	for _, word := range words {
		if val := scan.Get(obj, word); val != nil {
			return val
		}
	}
	return nil
}

// lastMember returns the value of the last member of that name, which is the one
// that decoding took where a name occurs twice.
func lastMember(msg []byte, name string) json.RawMessage {
	var last json.RawMessage
	for key, val := range members(msg) {
		if key == name {
			last = val
		}
	}
	return last
}

// text returns the string val; "" if it is none.
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

// put returns doc with the value at a JSON pointer replaced by val; ok is false
// if the pointer leads nowhere.
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

package params

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// A builder builds params. Each word sets a value inside the JSON of the words before it. All other parts keep their
// digits and their order.
type builder struct {
	json  json.RawMessage   // the params so far, or nil
	given map[string]string // by JSON pointer: the word that set this value or first led into it
	whole map[string]bool   // by JSON pointer: a word has set the whole value
}

func newBuilder(start json.RawMessage) *builder {
	return &builder{json: start, given: map[string]string{}, whole: map[string]bool{}}
}

// set stores v at path and returns the JSON pointer of that place. It returns an error if another word has set the
// value.
func (b *builder) set(path []step, v json.RawMessage, word string) (pointer string, err error) {
	vals := []json.RawMessage{b.json} // the values on the way; nil if missing
	for i, s := range path {
		if b.whole[pointer] {
			return "", errors.New("its value was already set by " + clip(b.given[pointer]))
		}
		kind := scan.Type(vals[i])
		if vals[i] != nil && (s.more && kind != 'a' || !s.more && kind != 'o') {
			what := cmp.Or(map[byte]string{'o': "an object", 'a': "an array"}[kind], "a plain value")
			if given := b.given[pointer]; given != "" {
				what += " because of " + clip(given)
			}
			return "", fmt.Errorf("its key continues inside %s", what)
		}
		b.given[pointer] = cmp.Or(b.given[pointer], word)
		child, token := s.in(vals[i])
		vals, pointer = append(vals, child), pointer+"/"+token
	}
	if given := b.given[pointer]; given != "" {
		return "", fmt.Errorf("%s was already set by %s", where(path), clip(given))
	}
	b.given[pointer], b.whole[pointer] = word, true
	for i, s := range slices.Backward(path) {
		v = s.with(vals[i], v)
	}
	b.json = v
	return pointer, nil
}

// in returns the value of the step in val, or nil if it is missing, and its token in a JSON pointer. If a member is repeated, it
// returns the last one, as most JSON parsers do.
func (s step) in(val json.RawMessage) (child json.RawMessage, token string) {
	if s.more {
		return nil, strconv.Itoa(scan.Count(val))
	}
	for key, member := range scan.Members(val) {
		if scan.IsKey(key, s.name) {
			child = member
		}
	}
	return child, scan.Escape(s.name)
}

// with returns val, an object, an array or nil, with child as the value of the step.
func (s step) with(val, child json.RawMessage) json.RawMessage {
	if s.more {
		return scan.ArrayOf(append(scan.List(val), child)...)
	}
	var o scan.Object
	found := false
	for key, member := range scan.Members(val) {
		if scan.IsKey(key, s.name) {
			member, found = child, true
		}
		o.Member(key, member)
	}
	if !found {
		o.Add(s.name, child)
	}
	return o.End()
}

// put returns val with v in place of the value at a JSON pointer.
func put(val json.RawMessage, pointer string, v json.RawMessage) json.RawMessage {
	for pointer != "" {
		i := strings.LastIndexByte(pointer, '/')
		v = scan.Splice(scan.At(val, pointer[:i]), scan.Unescape(pointer[i+1:]), v)
		pointer = pointer[:i]
	}
	return v
}

// renamed returns an object with another name for a member. It returns nil without that member, or if the new name exists.
func renamed(obj json.RawMessage, from, to string) json.RawMessage {
	if scan.Get(obj, from) == nil || scan.Get(obj, to) != nil {
		return nil
	}
	var o scan.Object
	for key, val := range scan.Members(obj) {
		if scan.IsKey(key, from) {
			o.Add(to, val)
		} else {
			o.Member(key, val)
		}
	}
	return o.End()
}

// pathOf returns a JSON pointer into val as a path for a Typer.
func pathOf(val json.RawMessage, pointer string) (path []string) {
	for i, c := range pointer {
		if c != '/' {
			continue
		}
		token, _, _ := strings.Cut(pointer[i+1:], "/")
		if scan.Type(scan.At(val, pointer[:i])) == 'a' {
			token = schema.Append
		}
		path = append(path, scan.Unescape(token))
	}
	return path
}

// where returns a path as the user would type it.
func where(path []step) string {
	var b strings.Builder
	for i, s := range path {
		switch {
		case s.more:
			b.WriteString("[]")
		case i > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

package jq

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"rpcx/wire/scan"
)

// A step is a member of an object or, if key is nil, an element of an array.
type step struct {
	key   []byte
	index int // negative: from the end
}

// split splits the leading path off query: .params.result of .params.result |
// {number}. rest is nil if nothing remains; path is nil if query does not begin
// with one. The identity is an empty path.
func split(query *gojq.Query) (path []step, rest *gojq.Query) {
	if len(query.Imports) > 0 || query.Meta != nil || len(query.Patterns) > 0 {
		return nil, query
	}
	switch {
	case query.Term != nil:
		path, rest = splitTerm(query.Term)
	case query.Op == gojq.OpPipe:
		if path, rest = split(query.Left); rest == nil {
			rest = query.Right
		} else {
			rest = &gojq.Query{Left: rest, Op: gojq.OpPipe, Right: query.Right}
		}
	}
	if path == nil {
		return nil, query
	}
	if rest != nil && len(query.FuncDefs) > 0 {
		r := *rest
		r.FuncDefs = append(query.FuncDefs[:len(query.FuncDefs):len(query.FuncDefs)], rest.FuncDefs...)
		rest = &r
	}
	return path, rest
}

// splitTerm returns split of a single term.
func splitTerm(t *gojq.Term) (path []step, rest *gojq.Query) {
	path = []step{}
	switch t.Type {
	case gojq.TermTypeIdentity:
	case gojq.TermTypeIndex:
		s, ok := constant(t.Index)
		if !ok {
			return nil, &gojq.Query{Term: t}
		}
		path = append(path, s)
	default:
		return nil, &gojq.Query{Term: t}
	}
	n := 0
	for n < len(t.SuffixList) {
		s, ok := constant(t.SuffixList[n].Index)
		if !ok {
			break
		}
		path = append(path, s)
		n++
	}
	if n == len(t.SuffixList) {
		return path, nil
	}
	if t.SuffixList[n].Optional { // the ? belongs to the index before it
		return nil, &gojq.Query{Term: t}
	}
	return path, &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity, SuffixList: t.SuffixList[n:]}}
}

// constant returns the step for an index that does not depend on the input.
func constant(x *gojq.Index) (s step, ok bool) {
	switch {
	case x == nil || x.IsSlice:
		return s, false
	case x.Name != "":
		return step{key: []byte(x.Name)}, true
	case x.Str != nil:
		return textStep(x.Str)
	case x.Start == nil || x.Start.Term == nil || len(x.Start.Term.SuffixList) > 0 || len(x.Start.FuncDefs) > 0:
		return s, false
	}
	t := x.Start.Term
	switch t.Type {
	case gojq.TermTypeString:
		return textStep(t.Str)
	case gojq.TermTypeNumber:
		n, err := strconv.Atoi(t.Number)
		return step{index: n}, err == nil
	case gojq.TermTypeUnary:
		u := t.Unary
		if u.Op == gojq.OpSub && u.Term.Type == gojq.TermTypeNumber && len(u.Term.SuffixList) == 0 {
			n, err := strconv.Atoi(u.Term.Number)
			return step{index: -n}, err == nil
		}
	}
	return s, false
}

func textStep(s *gojq.String) (step, bool) {
	return step{key: append([]byte{}, s.Str...)}, s.Queries == nil && utf8.ValidString(s.Str)
}

// Path returns the one output of a program that only follows a path in its input; ok is
// false for any other program, and where gojq has to say what is wrong. The output is a
// part of in if that has no blanks between its tokens.
func (p *Program) Path(in json.RawMessage) (out json.RawMessage, ok bool) {
	if p.path == nil || p.code != nil || p.root != "" {
		return nil, false
	}
	part, ok, err := p.follow(in)
	if err != nil || !ok {
		return nil, false
	}
	return compact(part), true
}

// maxPathSteps is the length of paths that are followed in one pass.
const maxPathSteps = 8

// wayOf returns the places of a path; nil where it is too long for one pass, or counts from
// an end.
func wayOf(path []step) *place {
	if len(path) >= maxPathSteps {
		return nil
	}
	way := &place{}
	for n, last := 0, way; n < len(path); n++ {
		if path[n].key == nil && path[n].index < 0 {
			return nil
		}
		next := &place{step: path[n], slot: n + 1}
		last.parts, last = []*place{next}, next
	}
	return way
}

// follow is the function follow with the path of p.
func (p *Program) follow(in []byte) (val []byte, ok bool, err error) {
	if p.way == nil {
		return follow(in, p.path)
	}
	var slots [maxPathSteps]slot
	if !p.way.read(in, slots[:]) {
		return nil, false, scan.Valid(in, maxDepth)
	}
	end := slots[len(p.path)]
	if end.text == nil {
		return null, !end.wrong, nil
	}
	return end.text, true, nil
}

// compact returns val without blanks between tokens; val itself if there are
// none.
func compact(val []byte) json.RawMessage {
	if scan.IsMinified(val) {
		return val
	}
	return scan.Minify(nil, val)
}

var null = []byte("null")

// follow returns the value in b at path, without blanks around it: null if a
// member or an element is missing. ok is false if following the path is an
// error, which gojq has to report. It checks all of b.
func follow(b []byte, path []step) (val []byte, ok bool, err error) {
	b = b[scan.Skip(b, 0):]
	if len(path) > 0 && path[0].key != nil && len(b) > 0 && b[0] == '{' {
		// Looking for the last member of that name passes, and checks, them all.
		if b, err = member(b, path[0].key); err != nil {
			return nil, false, err
		}
		path = path[1:]
	} else if err := scan.Valid(b, maxDepth); err != nil {
		return nil, false, err
	}
	for _, s := range path {
		switch {
		case b[0] == 'n':
			return null, true, nil
		case s.key != nil && b[0] == '{':
			b, _ = member(b, s.key)
		case s.key == nil && b[0] == '[':
			b = element(b, s.index)
		default:
			return nil, false, nil
		}
	}
	return scan.Trim(b), true, nil
}

// member returns the last member of that name.
func member(obj, key []byte) (val []byte, err error) {
	val = null
	members := scan.ReadObject(obj, maxDepth)
	for name, v, ok := members.Next(); ok; name, v, ok = members.Next() {
		if bytes.Equal(name, key) || odd(name) && unescape(name) == string(key) {
			val = v
		}
	}
	return val, members.Err()
}

// odd reports whether the text of name may differ from its bytes.
func odd(name []byte) bool { return bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) }

// element returns the element at index; a negative index counts from the end.
func element(array []byte, index int) []byte {
	if index < 0 {
		for range scan.Elements(array) {
			index++
		}
		if index < 0 {
			return null
		}
	}
	for v := range scan.Elements(array) {
		if index == 0 {
			return v
		}
		index--
	}
	return null
}

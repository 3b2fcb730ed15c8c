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
	index int // a negative index counts from the end
}

// split divides query into a leading path and the rest: .params.result | {number} becomes .params.result and {number}.
// rest is nil if nothing remains, and path is nil if there is no leading path. For the identity, path is empty.
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

// splitTerm is like split, but for a single term.
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
	path, suffixes := constants(path, t.SuffixList)
	switch {
	case len(suffixes) == 0:
		return path, nil
	case suffixes[0].Optional: // the ? belongs to the index before it
		return nil, &gojq.Query{Term: t}
	}
	return path, &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity, SuffixList: suffixes}}
}

// constants appends the steps at the start of suffixes that are constant to path, and returns the remaining suffixes.
func constants(path []step, suffixes []*gojq.Suffix) ([]step, []*gojq.Suffix) {
	for n, suffix := range suffixes {
		s, ok := constant(suffix.Index)
		if !ok {
			return path, suffixes[n:]
		}
		path = append(path, s)
	}
	return path, nil
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

// placesOf converts a path to places, each inside the previous one.
func placesOf(path []step) *place {
	places := &place{}
	last := places
	for n, s := range path {
		next := &place{step: s, slot: n + 1}
		last.parts, last = []*place{next}, next
	}
	return places
}

// follow returns the value in b at the path of p, without surrounding blanks, or null if a member or element does not
// exist. ok is false if the path causes an error, which gojq must report. follow checks all of b.
func (p *Program) follow(b []byte) (val []byte, ok bool, err error) {
	var few [8]slot
	slots := few[:]
	if len(p.path) >= len(few) {
		slots = make([]slot, len(p.path)+1)
	}
	if !p.places.read(b, slots) {
		return nil, false, scan.Valid(b, maxDepth)
	}
	end := slots[len(p.path)]
	if end.text == nil {
		return null, !end.wrong, nil
	}
	return end.text, true, nil
}

// compact returns val without the blanks between tokens. If there are none, it returns val itself.
func compact(val []byte) json.RawMessage {
	if scan.IsMinified(val) {
		return val
	}
	return scan.Minify(nil, val)
}

var null = []byte("null")

// odd reports whether the text that name stands for may differ from its bytes.
func odd(name []byte) bool { return bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) }

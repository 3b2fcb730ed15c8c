package jq

import (
	"regexp"
	"slices"

	"github.com/itchyny/gojq"

	"rpcx/wire/scan"
)

// A need is what a program looks at of a value: the members of an object or the elements of an
// array by which each of its uses begins. What it does not look at is not decoded. nil: all of
// the value.
type need []step

// neededOf returns what query looks at of its input.
func neededOf(query *gojq.Query) need {
	n := need{}
	if query == nil || !n.query(query) {
		return nil
	}
	return n
}

func (n *need) add(s step) { *n = append(*n, s) }

// query adds what q looks at. It returns false if that is all of the input, or not known.
func (n *need) query(q *gojq.Query) bool {
	switch {
	case q == nil:
		return true
	case q.Meta != nil || len(q.Imports) > 0 || len(q.FuncDefs) > 0 || assigns(q.Op):
		return false
	case q.Term != nil:
		return n.term(q.Term)
	case q.Op == gojq.OpPipe && len(q.Patterns) == 0:
		return n.query(q.Left) // what is behind it has another input
	case slices.ContainsFunc(q.Patterns, func(p *gojq.Pattern) bool { return p.Name == "" }):
		return false
	}
	return n.query(q.Left) && n.query(q.Right)
}

func (n *need) all(queries ...*gojq.Query) bool {
	return !slices.ContainsFunc(queries, func(q *gojq.Query) bool { return !n.query(q) })
}

func (n *need) term(t *gojq.Term) bool {
	suffixes := t.SuffixList
	switch t.Type {
	case gojq.TermTypeIdentity:
		if len(suffixes) == 0 || !n.index(suffixes[0].Index) {
			return false
		}
		suffixes = suffixes[1:]
	case gojq.TermTypeIndex:
		if !n.index(t.Index) {
			return false
		}
	default:
		if !n.made(t) {
			return false
		}
	}
	for _, s := range suffixes {
		if s.Index != nil && !(n.all(s.Index.Start, s.Index.End) && n.text(s.Index.Str)) {
			return false
		}
	}
	return true
}

// index adds the first step of a path.
func (n *need) index(x *gojq.Index) bool {
	s, ok := constant(x)
	if ok {
		n.add(s)
	}
	return ok
}

func (n *need) text(s *gojq.String) bool { return s == nil || n.all(s.Queries...) }

// made adds what a term looks at that is no path.
func (n *need) made(t *gojq.Term) bool {
	switch t.Type {
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber:
		return true
	case gojq.TermTypeString:
		return n.text(t.Str)
	case gojq.TermTypeFormat:
		return t.Str != nil && n.text(t.Str)
	case gojq.TermTypeUnary:
		return n.term(t.Unary.Term)
	case gojq.TermTypeQuery:
		return n.query(t.Query)
	case gojq.TermTypeArray:
		return n.query(t.Array.Query)
	case gojq.TermTypeTry:
		return n.query(t.Try.Body) // what is behind catch has the error as its input
	case gojq.TermTypeObject:
		return !slices.ContainsFunc(t.Object.KeyVals, func(kv *gojq.ObjectKeyVal) bool { return !n.member(kv) })
	case gojq.TermTypeIf:
		for _, e := range t.If.Elif {
			if !n.all(e.Cond, e.Then) {
				return false
			}
		}
		return t.If.Else != nil && n.all(t.If.Cond, t.If.Then, t.If.Else)
	case gojq.TermTypeFunc:
		return n.call(t.Func)
	}
	return false
}

// member adds what a member of an object that is made looks at: {a} is {a: .a}.
func (n *need) member(kv *gojq.ObjectKeyVal) bool {
	switch {
	case kv.Val != nil:
		return n.text(kv.KeyString) && n.all(kv.KeyQuery, kv.Val)
	case kv.KeyString != nil && kv.KeyString.Queries == nil:
		n.add(step{key: []byte(kv.KeyString.Str)})
	case kv.Key == "":
		return false
	case kv.Key[0] != '$':
		n.add(step{key: []byte(kv.Key)})
	}
	return true
}

// call adds what a function looks at. Most take their whole input.
func (n *need) call(f *gojq.Func) bool {
	switch {
	case f.Name[0] == '$', f.Name == "empty" && len(f.Args) == 0:
		return true
	case f.Name == "has" && len(f.Args) == 1 && f.Args[0].Term != nil && f.Args[0].Term.Str != nil && len(f.Args[0].Term.SuffixList) == 0:
		s, ok := textStep(f.Args[0].Term.Str)
		n.add(s)
		return ok
	case (f.Name == "any" || f.Name == "all") && len(f.Args) == 2:
		return n.query(f.Args[0]) // the second one's input is each of its outputs
	}
	return false
}

// neededOfVariable returns what src looks at of a declared variable.
func neededOfVariable(src, name string) need {
	n := need{}
	for _, use := range regexp.MustCompile(`\$`+name+`\b(\.([A-Za-z_]\w*))?`).FindAllStringSubmatch(src, -1) {
		if use[2] == "" {
			return nil
		}
		n.add(step{key: []byte(use[2])})
	}
	return n
}

// fits reports whether every step of n is one that values of raw's type have.
func (n need) fits(raw []byte) bool {
	kind := scan.Type(raw)
	return (kind == 'o' || kind == 'a') && !slices.ContainsFunc(n, func(s step) bool { return (s.key != nil) != (kind == 'o') || s.index < 0 })
}

// decodePart decodes of raw what n names, and all of it where it is of another type.
func (s *source) decodePart(raw []byte, n need) (any, error) {
	if n == nil || len(raw) < partFrom || !n.fits(raw) {
		return s.decode(raw)
	}
	if err := scan.Valid(raw, maxDepth); err != nil {
		return nil, err
	}
	d := decoder{b: raw, src: s}
	d.blanks()
	v := d.part(n)
	if d.huge {
		return nil, errHuge
	}
	return v, nil
}

// partFrom is the least length for which it pays to leave something out.
const partFrom = 64

func (d *decoder) part(n need) any {
	if d.b[d.i] == '[' {
		a := []any{}
		for d.more(']') {
			i := len(a)
			a = append(a, d.valueIf(slices.ContainsFunc(n, func(s step) bool { return s.index == i })))
		}
		return a
	}
	m := map[string]any{}
	for d.more('}') {
		d.blanks()
		key := d.text()
		d.blanks()
		d.i++ // the colon
		wanted := slices.ContainsFunc(n, func(s step) bool { return string(s.key) == key })
		if val := d.valueIf(wanted); wanted {
			m[key] = val
		}
	}
	return m
}

// valueIf is value, or moves over a value, which is valid, and returns nil.
func (d *decoder) valueIf(wanted bool) any {
	if wanted {
		return d.value()
	}
	if end, err := scan.Value(d.b, scan.Skip(d.b, d.i), maxDepth); err == nil {
		d.i = end
	}
	return nil
}

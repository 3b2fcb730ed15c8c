package jq

import (
	"regexp"
	"slices"

	"github.com/itchyny/gojq"
)

// A need is the set of paths that a program reads from a value. None of them is empty. Other parts of the value are not
// decoded. nil stands for the whole value.
type need [][]step

// neededOf returns the parts of the input that query reads. passes reports that an output can be the input itself, which
// must then be printed unchanged.
func neededOf(query *gojq.Query) (needed need, passes bool) {
	n := need{}
	if query == nil || !n.output(query, &passes) {
		return nil, false
	}
	return n, passes
}

func (n *need) add(path ...step) {
	same := func(a, b step) bool {
		return (a.key == nil) == (b.key == nil) && string(a.key) == string(b.key) && a.index == b.index
	}
	if !slices.ContainsFunc(*n, func(p []step) bool { return slices.EqualFunc(p, path, same) }) {
		*n = append(*n, path)
	}
}

// output is like query, but for the part of a query that yields the program's outputs.
func (n *need) output(q *gojq.Query, passes *bool) bool {
	switch {
	case n.selects(q):
		*passes = true
		return true
	case q.Op == gojq.OpPipe && isSimple(q) && n.selects(q.Left):
		return n.output(q.Right, passes)
	case q.Op == gojq.OpComma && isSimple(q):
		return n.output(q.Left, passes) && n.output(q.Right, passes)
	}
	return n.query(q)
}

// selects reports whether q yields nothing but its input, and adds the parts on which its decision depends.
func (n *need) selects(q *gojq.Query) bool {
	switch {
	case !isSimple(q):
		return false
	case q.Op == gojq.OpPipe:
		return n.selects(q.Left) && n.selects(q.Right)
	case q.Term == nil || len(q.Term.SuffixList) > 0:
		return false
	case q.Term.Type == gojq.TermTypeQuery:
		return n.selects(q.Term.Query)
	case q.Term.Type == gojq.TermTypeFunc && q.Term.Func.Name == "select" && len(q.Term.Func.Args) == 1:
		return n.query(q.Term.Func.Args[0])
	}
	return q.Term.Type == gojq.TermTypeIdentity
}

// query adds the parts that q reads. It returns false if it reads the whole input, or if the parts are unknown.
func (n *need) query(q *gojq.Query) bool {
	switch {
	case q == nil:
		return true
	case q.Meta != nil || len(q.Imports) > 0 || len(q.FuncDefs) > 0 || assigns(q.Op):
		return false
	case q.Term != nil:
		return n.term(q.Term)
	case q.Op == gojq.OpPipe && len(q.Patterns) == 0 && n.selects(q.Left):
		return n.query(q.Right)
	case q.Op == gojq.OpPipe && len(q.Patterns) == 0:
		return n.pipe(q)
	case slices.ContainsFunc(q.Patterns, func(p *gojq.Pattern) bool { return p.Name == "" }):
		return false
	}
	return n.query(q.Left) && n.query(q.Right)
}

// pipe adds the parts that a pipe reads. The input of the right side is an output of the left, so unless the left side is
// a path, what the right side reads does not matter.
func (n *need) pipe(q *gojq.Query) bool {
	_, path := pathOf(q.Left, nil)
	inner := need{}
	if len(path) == 0 || !inner.query(q.Right) || len(inner) == 0 {
		return n.query(q.Left)
	}
	for _, more := range inner {
		n.add(slices.Concat(path, more)...)
	}
	return true
}

func (n *need) all(queries ...*gojq.Query) bool {
	return !slices.ContainsFunc(queries, func(q *gojq.Query) bool { return !n.query(q) })
}

func (n *need) term(t *gojq.Term) bool {
	path, suffixes := start(t), t.SuffixList
	switch {
	case path != nil:
		if path, suffixes = constants(path, suffixes); len(path) == 0 {
			return false
		}
		n.add(path...)
	case !n.made(t):
		return false
	}
	for _, s := range suffixes {
		if s.Index != nil && !(n.all(s.Index.Start, s.Index.End) && n.text(s.Index.Str)) {
			return false
		}
	}
	return true
}

func (n *need) text(s *gojq.String) bool { return s == nil || n.all(s.Queries...) }

// made adds the parts that a term reads, unless the term is a path.
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
		return n.query(t.Try.Body) // the input of catch is the error
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

// member adds the parts that a member of an object construction reads. {a} is short for {a: .a}.
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

// call adds the parts that a function reads. Most functions read their whole input.
func (n *need) call(f *gojq.Func) bool {
	switch {
	case f.Name[0] == '$', f.Name == "empty" && len(f.Args) == 0:
		return true
	case f.Name == "has" && len(f.Args) == 1 && f.Args[0].Term != nil && f.Args[0].Term.Str != nil && len(f.Args[0].Term.SuffixList) == 0:
		s, ok := textStep(f.Args[0].Term.Str)
		n.add(s)
		return ok
	case (f.Name == "any" || f.Name == "all") && len(f.Args) == 2:
		return n.query(f.Args[0]) // the input of the second argument is an output of the first
	}
	return false
}

// neededOfVariable returns the parts of a declared variable that src reads.
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

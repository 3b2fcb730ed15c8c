package jq

import (
	"encoding/json"
	"slices"

	"github.com/itchyny/gojq"
)

// A plan does what a program does on the text of its input, without gojq: it follows
// paths, goes through arrays, compares, selects and builds. What it says is, byte for byte, what gojq says;
// where that is not certain, as where the program fails, it says nothing and gojq is asked.
type plan struct {
	input *place // what is looked at of the input
	slots int    // how many places there are
	body  *part
	size  int // nodes and parts made so far
}

// A part is what is done with one input of a pipe.
type part struct {
	kind        partKind
	value       *node // the condition of a branch; what is given, or only looked at; an array
	then, other *part
	inner       *plan // of each
}

type partKind uint8

const (
	nothing partKind = iota // no output
	give                    // value is an output
	check                   // value is looked at, as it may be an error; then
	branch                  // then if value holds, else other
	both                    // then, and other after it
	each                    // inner with each element of value
)

// maxPlan bounds the nodes and parts of a plan.
const maxPlan = 400

// planOf returns the plan of query; nil where it has none. vars are the values of variables.
func planOf(query *gojq.Query, vars map[string]json.RawMessage) *plan {
	p := &plan{}
	p.input = p.place(step{})
	c := planner{p, vars}
	p.body = c.pipe(query, &node{op: opPath, at: p.input}, func(n *node) *part { return &part{kind: give, value: n} })
	if p.body == nil {
		return nil
	}
	return p
}

// place returns a new place with a slot.
func (p *plan) place(s step) *place {
	p.slots++
	return &place{step: s, slot: p.slots - 1, of: p}
}

// A planner makes a plan. Its functions return nil for what no plan can do.
type planner struct {
	*plan
	vars map[string]json.RawMessage
}

// count reports whether the plan may grow.
func (c planner) count() bool {
	c.size++
	return c.size <= maxPlan
}

// pipe returns what q does with in, whose outputs go on to next.
func (c planner) pipe(q *gojq.Query, in *node, next func(n *node) *part) *part {
	if !c.count() || q.Meta != nil || len(q.Imports) > 0 || len(q.FuncDefs) > 0 || len(q.Patterns) > 0 {
		return nil
	}
	switch {
	case q.Op == gojq.OpPipe:
		return c.pipe(q.Left, in, func(n *node) *part {
			right := c.pipe(q.Right, n, next)
			if right == nil || n == in {
				return right
			}
			return &part{kind: check, value: n, then: right}
		})
	case q.Op == gojq.OpComma:
		return pair(both, nil, c.pipe(q.Left, in, next), c.pipe(q.Right, in, next))
	case q.Term != nil && len(q.Term.SuffixList) == 0:
		switch t := q.Term; t.Type {
		case gojq.TermTypeQuery:
			return c.pipe(t.Query, in, next)
		case gojq.TermTypeFunc:
			if t.Func.Name == "empty" && len(t.Func.Args) == 0 {
				return &part{}
			}
			if t.Func.Name == "select" && len(t.Func.Args) == 1 {
				if cond := c.value(t.Func.Args[0], in); cond != nil {
					return pair(branch, cond, next(in), &part{})
				}
				return nil
			}
		case gojq.TermTypeIf:
			return c.choose(t.If, in, next)
		}
	}
	if q.Term != nil {
		if i := slices.IndexFunc(q.Term.SuffixList, func(s *gojq.Suffix) bool { return s.Iter }); i >= 0 {
			return c.elements(q.Term, i, in, next)
		}
	}
	n := c.value(q, in)
	if n == nil {
		return nil
	}
	return next(n)
}

// elements is pipe for a term of whose suffixes the one at i is [].
func (c planner) elements(t *gojq.Term, i int, in *node, next func(n *node) *part) *part {
	list := *t
	list.SuffixList = t.SuffixList[:i]
	from := c.value(&gojq.Query{Term: &list}, in)
	if from == nil || !from.isPath() {
		return nil
	}
	inner := &plan{}
	inner.input = inner.place(step{})
	rest := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity, SuffixList: t.SuffixList[i+1:]}}
	if inner.body = c.pipe(rest, &node{op: opPath, at: inner.input}, next); inner.body == nil {
		return nil
	}
	return &part{kind: each, value: from, inner: inner}
}

// choose is pipe for if … then … else … end.
func (c planner) choose(f *gojq.If, in *node, next func(n *node) *part) *part {
	cond := c.value(f.Cond, in)
	if cond == nil {
		return nil
	}
	then := c.pipe(f.Then, in, next)
	switch {
	case len(f.Elif) > 0:
		rest := &gojq.If{Cond: f.Elif[0].Cond, Then: f.Elif[0].Then, Elif: f.Elif[1:], Else: f.Else}
		return pair(branch, cond, then, c.choose(rest, in, next))
	case f.Else == nil:
		return pair(branch, cond, then, next(in))
	}
	return pair(branch, cond, then, c.pipe(f.Else, in, next))
}

func pair(kind partKind, cond *node, then, other *part) *part {
	if then == nil || other == nil {
		return nil
	}
	return &part{kind: kind, value: cond, then: then, other: other}
}

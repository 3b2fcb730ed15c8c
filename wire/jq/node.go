package jq

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// A node is an expression of a plan that has one value.
type node struct {
	op   op
	at   *place         // of opPath and opHas
	text []byte         // of opConst: its JSON; of functions with a text: that text
	cmp  gojq.Operator  // of opCompare
	re   *regexp.Regexp // of opTest
	kids []*node
	keys []string // of opObject: what stands before each of kids
	body *part    // of opArray
	cost int      // how many nodes are evaluated for it
}

type op uint8

const (
	opPath op = iota
	opConst
	opHas
	opCompare
	opAnd
	opOr
	opNot
	opOtherwise // a // b
	opIf
	opType
	opLength
	opStarts
	opEnds
	opContains
	opTest
	opObject
	opArray
	opText // "a \(b)"
	opThen // a | b, where b looks at a
)

// isPath reports whether n is a part of the input.
func (n *node) isPath() bool { return n.op == opPath }

// value returns the node of q, which is applied to in.
func (c planner) value(q *gojq.Query, in *node) *node {
	if q == nil || !c.count() || q.Meta != nil || len(q.Imports) > 0 || len(q.FuncDefs) > 0 || len(q.Patterns) > 0 {
		return nil
	}
	switch q.Op {
	case gojq.OpPipe:
		left := c.value(q.Left, in)
		if left == nil {
			return nil
		}
		if right := c.value(q.Right, left); right == left || left == in {
			return right
		} else {
			return of(opThen, left, right)
		}
	case gojq.OpAnd:
		return of(opAnd, c.value(q.Left, in), c.value(q.Right, in))
	case gojq.OpOr:
		return of(opOr, c.value(q.Left, in), c.value(q.Right, in))
	case gojq.OpAlt:
		return of(opOtherwise, c.value(q.Left, in), c.value(q.Right, in))
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpGt, gojq.OpLe, gojq.OpGe:
		n := of(opCompare, c.value(q.Left, in), c.value(q.Right, in))
		if n != nil {
			n.cmp = q.Op
		}
		return n
	}
	if q.Term == nil {
		return nil
	}
	return c.suffixed(q.Term, in)
}

// of returns the node of an operator; nil where an operand is nil, or where what is piped
// on is evaluated too often.
func of(o op, kids ...*node) *node {
	n := &node{op: o, kids: kids, cost: 1}
	for _, kid := range kids {
		if kid == nil {
			return nil
		}
		n.cost += kid.cost
	}
	if n.cost > maxPlan {
		return nil
	}
	return n
}

// suffixed returns the node of a term with what follows it. A ? does nothing: where it had
// to, gojq is asked.
func (c planner) suffixed(t *gojq.Term, in *node) *node {
	n := c.term(t, in)
	for _, s := range t.SuffixList {
		switch at, ok := constant(s.Index); {
		case n == nil:
			return nil
		case s.Optional && s.Index == nil && !s.Iter:
		case ok:
			n = c.step(n, at)
		default:
			return nil
		}
	}
	return n
}

// step returns the node of a part of n.
func (c planner) step(n *node, s step) *node {
	if !n.isPath() || s.key == nil && s.index < 0 {
		return nil
	}
	for _, p := range n.at.parts {
		if (p.step.key == nil) == (s.key == nil) && string(p.step.key) == string(s.key) && p.step.index == s.index {
			return &node{op: opPath, at: p}
		}
	}
	p := n.at.of.place(s)
	n.at.parts = append(n.at.parts, p)
	return &node{op: opPath, at: p}
}

func (c planner) term(t *gojq.Term, in *node) *node {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return in
	case gojq.TermTypeIndex:
		if s, ok := constant(t.Index); ok {
			return c.step(in, s)
		}
	case gojq.TermTypeQuery:
		return c.value(t.Query, in)
	case gojq.TermTypeTry:
		return c.value(t.Try.Body, in) // where it fails gojq is asked
	case gojq.TermTypeNull:
		return literal(nil)
	case gojq.TermTypeTrue:
		return literal(true)
	case gojq.TermTypeFalse:
		return literal(false)
	case gojq.TermTypeNumber, gojq.TermTypeUnary:
		return number(t)
	case gojq.TermTypeString:
		return c.words(t.Str, in)
	case gojq.TermTypeIf:
		return c.one(t.If, in)
	case gojq.TermTypeArray:
		return c.array(t.Array, in)
	case gojq.TermTypeObject:
		return c.object(t.Object, in)
	case gojq.TermTypeFunc:
		return c.call(t.Func, in)
	}
	return nil
}

// call returns the node of a function or a variable.
func (c planner) call(f *gojq.Func, in *node) *node {
	if name, ok := strings.CutPrefix(f.Name, "$"); ok {
		if v, err := Decode(c.vars[name]); err == nil {
			return literal(v)
		}
		return nil
	}
	if len(f.Args) == 0 {
		switch f.Name {
		case "not":
			return of(opNot, in)
		case "type":
			return of(opType, in)
		case "length":
			return of(opLength, in)
		}
		return nil
	}
	arg := f.Args[0]
	if len(f.Args) > 1 || arg.Term == nil || arg.Term.Type != gojq.TermTypeString || len(arg.Term.SuffixList) > 0 ||
		len(arg.FuncDefs) > 0 || arg.Term.Str.Queries != nil || !utf8.ValidString(arg.Term.Str.Str) {
		return nil
	}
	word := arg.Term.Str.Str
	n := of(opStarts, in)
	if n == nil {
		return nil
	}
	n.text = []byte(word)
	switch f.Name {
	case "has":
		if n = c.step(in, step{key: append([]byte{}, word...)}); n != nil {
			n.op = opHas
		}
		return n
	case "startswith":
	case "endswith":
		n.op = opEnds
	case "contains":
		n.op = opContains
	case "test":
		re, err := regexp.Compile(word)
		if err != nil {
			return nil
		}
		n.op, n.re = opTest, re
	default:
		return nil
	}
	return n
}

package jq

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// A plan computes the output of the programs that are most frequent for streams of messages: select(…) | {…} with
// paths, constants, comparisons, and, or. It works on the text of the input and prints exactly the same as gojq. If it
// cannot do that, or if the program fails, gojq evaluates the input.
type plan struct {
	input  *place // the parts of the input to read
	slots  int    // the number of places
	checks []check
	output *node
}

// A check is an expression that is evaluated before the output, in the order of the program.
type check struct {
	value *node
	must  bool // if value is null or false, there is no output; if must is not set, only an error of value matters
}

// A node is an expression with one value.
type node struct {
	op   op
	at   *place        // if op is opPath
	text []byte        // if op is opConst: the JSON of the constant
	cmp  gojq.Operator // if op is opCompare
	kids []*node
	keys []string // if op is opObject: the text that precedes each of kids
}

type op uint8

const (
	opPath op = iota
	opConst
	opCompare
	opAnd
	opOr
	opObject
)

// planOf returns a plan for query, or nil. vars contains the values of variables.
func planOf(query *gojq.Query, vars map[string]json.RawMessage) *plan {
	c := planner{&plan{}, vars}
	c.input = c.place(step{})
	if c.output = c.pipe(query, &node{at: c.input}); c.output == nil {
		return nil
	}
	return c.plan
}

// A planner makes a plan. Its methods return nil for expressions that plans do not support.
type planner struct {
	*plan
	vars map[string]json.RawMessage
}

// place returns a new place with its own slot.
func (c planner) place(s step) *place {
	c.slots++
	return &place{step: s, slot: c.slots - 1}
}

// isSimple reports whether q is only a term, or an operator with its operands.
func isSimple(q *gojq.Query) bool {
	return q != nil && q.Meta == nil && len(q.Imports) == 0 && len(q.FuncDefs) == 0 && len(q.Patterns) == 0
}

// pipe returns the node for the output of q, whose input is in.
func (c planner) pipe(q *gojq.Query, in *node) *node {
	if !isSimple(q) {
		return nil
	}
	if q.Op == gojq.OpPipe {
		left := c.pipe(q.Left, in)
		if left == nil || left.op != opPath {
			return nil
		}
		c.checks = append(c.checks, check{value: left})
		return c.pipe(q.Right, left)
	}
	switch t := q.Term; {
	case t == nil || len(t.SuffixList) > 0:
	case t.Type == gojq.TermTypeQuery:
		return c.pipe(t.Query, in)
	case t.Type == gojq.TermTypeFunc && t.Func.Name == "select" && len(t.Func.Args) == 1:
		cond := c.value(t.Func.Args[0], in)
		if cond == nil {
			return nil
		}
		c.checks = append(c.checks, check{cond, true})
		return in
	}
	return c.value(q, in)
}

// value returns the node for the value of q, whose input is in.
func (c planner) value(q *gojq.Query, in *node) *node {
	switch {
	case !isSimple(q):
		return nil
	case q.Term != nil:
		return c.suffixed(q.Term, in)
	}
	n := &node{cmp: q.Op}
	switch q.Op {
	case gojq.OpAnd:
		n.op = opAnd
	case gojq.OpOr:
		n.op = opOr
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpGt, gojq.OpLe, gojq.OpGe:
		n.op = opCompare
	default:
		return nil
	}
	n.kids = []*node{c.value(q.Left, in), c.value(q.Right, in)}
	if slices.Contains(n.kids, nil) {
		return nil
	}
	return n
}

// suffixed returns the node for a term with suffixes. It ignores "?", because gojq evaluates the inputs for which that
// has an effect.
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

// step returns the node for a part of the value of n.
func (c planner) step(n *node, s step) *node {
	if n.op != opPath || s.key == nil && s.index < 0 {
		return nil
	}
	for _, p := range n.at.parts {
		if (p.step.key == nil) == (s.key == nil) && string(p.step.key) == string(s.key) && p.step.index == s.index {
			return &node{at: p}
		}
	}
	p := c.place(s)
	n.at.parts = append(n.at.parts, p)
	return &node{at: p}
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
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse:
		return literal(map[gojq.TermType]any{gojq.TermTypeTrue: true, gojq.TermTypeFalse: false}[t.Type])
	case gojq.TermTypeNumber, gojq.TermTypeUnary:
		return number(t)
	case gojq.TermTypeString:
		if t.Str.Queries == nil && utf8.ValidString(t.Str.Str) {
			return literal(t.Str.Str)
		}
	case gojq.TermTypeObject:
		return c.object(t.Object, in)
	case gojq.TermTypeFunc:
		if name, ok := strings.CutPrefix(t.Func.Name, "$"); ok {
			if v, err := Decode(c.vars[name]); err == nil {
				return literal(v)
			}
		}
	}
	return nil
}

// literal returns the node for a constant value.
func literal(v any) *node {
	text, err := Encode(v)
	if err != nil {
		return nil
	}
	return &node{op: opConst, text: text}
}

// number returns the node for a number, which may have a minus sign.
func number(t *gojq.Term) *node {
	text := t.Number
	if t.Type == gojq.TermTypeUnary {
		if u := t.Unary; u.Op != gojq.OpSub || u.Term.Type != gojq.TermTypeNumber || len(u.Term.SuffixList) > 0 {
			return nil
		}
		text = t.Unary.Term.Number
	}
	if len(text) > 15 || strings.ContainsAny(text, "eE") { // gojq may print the number in another form
		return nil
	}
	q := &gojq.Query{Term: &gojq.Term{Type: t.Type, Number: t.Number, Unary: t.Unary}}
	v, ok := q.Run(nil).Next()
	if _, failed := v.(error); !ok || failed {
		return nil
	}
	return literal(v)
}

// object returns the node for an object construction with constant keys.
func (c planner) object(o *gojq.Object, in *node) *node {
	vals := map[string]*node{}
	for _, kv := range o.KeyVals {
		key := kv.Key
		switch {
		case kv.KeyString != nil && kv.KeyString.Queries == nil && utf8.ValidString(kv.KeyString.Str):
			key = kv.KeyString.Str
		case key == "" || key[0] == '$': // computed, or a variable
			return nil
		}
		var val *node
		if kv.Val == nil {
			val = c.step(in, step{key: []byte(key)})
		} else {
			val = c.value(kv.Val, in)
		}
		if val == nil || vals[key] != nil {
			return nil
		}
		vals[key] = val
	}
	n, comma := &node{op: opObject}, ""
	for _, key := range sortedKeys(vals) {
		text, err := Encode(key)
		if err != nil {
			return nil
		}
		n.keys, n.kids = append(n.keys, comma+string(text)+":"), append(n.kids, vals[key])
		comma = ","
	}
	return n
}

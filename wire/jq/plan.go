package jq

import (
	"slices"

	"github.com/itchyny/gojq"
)

// A plan computes the output of the programs that are most frequent for streams of messages without gojq, in a third of the
// time: a pipe of select(…) and of paths, constants, comparisons, and, or, and objects of these. It leaves everything
// that would be an error, or that needs a guard, to gojq. The zero plan computes nothing.
type plan []stage

// A stage is one part of the pipe.
type stage struct {
	value   value
	selects bool // the output of the stage is its input if value is true, and otherwise nothing
}

// A value computes a value from the input of its stage and the values of the variables. ok is false if gojq must compute
// the output of the program.
type value func(in any, vals []any) (out any, ok bool)

// run computes the output for an input. some is false if there is no output, and ok is false if gojq must compute it.
func (p plan) run(in any, vals []any) (out any, some, ok bool) {
	for _, s := range p {
		v, ok := s.value(in, vals)
		switch {
		case !ok:
			return nil, false, false
		case !s.selects:
			in = v
		case !truth(v):
			return nil, false, true
		}
	}
	return in, true, p != nil
}

func truth(v any) bool { return v != nil && v != false }

// A planner makes a plan for a query. Its methods return nil for what plans do not support. Its elements are the names of
// the variables.
type planner []string

// plan returns the plan for the output of q.
func (names planner) plan(q *gojq.Query) plan {
	if !isSimple(q) {
		return nil
	}
	if q.Op == gojq.OpPipe {
		left, right := names.plan(q.Left), names.plan(q.Right)
		if left == nil || right == nil {
			return nil
		}
		return append(left, right...)
	}
	s := stage{}
	if t := q.Term; t == nil || len(t.SuffixList) > 0 {
		s.value = names.query(q)
	} else if t.Type == gojq.TermTypeQuery {
		return names.plan(t.Query)
	} else if t.Type == gojq.TermTypeFunc && t.Func.Name == "select" && len(t.Func.Args) == 1 {
		s = stage{names.query(t.Func.Args[0]), true}
	} else {
		s.value = names.query(q)
	}
	if s.value == nil {
		return nil
	}
	return plan{s}
}

// isSimple reports whether q is only a term, or an operator with its operands.
func isSimple(q *gojq.Query) bool {
	return q != nil && q.Meta == nil && len(q.Imports) == 0 && len(q.FuncDefs) == 0 && len(q.Patterns) == 0
}

// query returns the value of a query with exactly one output.
func (names planner) query(q *gojq.Query) value {
	switch {
	case !isSimple(q):
		return nil
	case q.Term != nil:
		return names.suffixed(q.Term)
	}
	left, right := names.query(q.Left), names.query(q.Right)
	switch {
	case left == nil || right == nil:
		return nil
	case q.Op == gojq.OpAnd || q.Op == gojq.OpOr:
		return func(in any, vals []any) (any, bool) {
			v, ok := left(in, vals)
			if is := truth(v); !ok || is == (q.Op == gojq.OpOr) {
				return is, ok
			}
			v, ok = right(in, vals)
			return truth(v), ok
		}
	case comparisons[q.Op] != nil:
		holds := comparisons[q.Op]
		return func(in any, vals []any) (any, bool) {
			a, ok := left(in, vals)
			b, bothOK := right(in, vals)
			if !ok || !bothOK || nested(a) && nested(b) {
				return nil, false
			}
			return holds(gojq.Compare(a, b)), true
		}
	}
	return nil
}

// comparisons maps operators to their result for an order: negative if the left operand is less than the right one, or 0
// if both are equal.
var comparisons = map[gojq.Operator]func(order int) bool{
	gojq.OpEq: func(order int) bool { return order == 0 },
	gojq.OpNe: func(order int) bool { return order != 0 },
	gojq.OpLt: func(order int) bool { return order < 0 },
	gojq.OpLe: func(order int) bool { return order <= 0 },
	gojq.OpGt: func(order int) bool { return order > 0 },
	gojq.OpGe: func(order int) bool { return order >= 0 },
}

// suffixed returns the value of a term with suffixes. It ignores "?", because gojq evaluates the inputs for which that
// has an effect.
func (names planner) suffixed(t *gojq.Term) value {
	v := names.term(t)
	for _, s := range t.SuffixList {
		switch at, ok := constant(s.Index); {
		case v == nil:
			return nil
		case ok:
			v = part(v, at)
		case !s.Optional || s.Index != nil || s.Iter:
			return nil
		}
	}
	return v
}

// part returns the value at s in the value of v.
func part(v value, s step) value {
	key := string(s.key)
	return func(in any, vals []any) (any, bool) {
		of, ok := v(in, vals)
		switch of := of.(type) {
		case nil:
			return nil, ok
		case map[string]any:
			return of[key], s.key != nil
		case []any:
			i := s.index
			if i < 0 {
				i += len(of)
			}
			if s.key == nil && 0 <= i && i < len(of) {
				return of[i], true
			}
			return nil, s.key == nil
		}
		return nil, false
	}
}

func input(in any, _ []any) (any, bool) { return in, true }

// term returns the value of a term without its suffixes.
func (names planner) term(t *gojq.Term) value {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return input
	case gojq.TermTypeIndex:
		if s, ok := constant(t.Index); ok {
			return part(input, s)
		}
	case gojq.TermTypeQuery:
		return names.query(t.Query)
	case gojq.TermTypeUnary:
		if t.Unary.Term.Type == gojq.TermTypeNumber && len(t.Unary.Term.SuffixList) == 0 {
			return literal(*t)
		}
	case gojq.TermTypeObject:
		return names.object(t.Object)
	case gojq.TermTypeFunc:
		if i := slices.Index(names, t.Func.Name); i >= 0 {
			return func(_ any, vals []any) (any, bool) { return vals[i], true }
		}
	}
	if plainTerm(t) {
		return literal(*t)
	}
	return nil
}

// literal returns the value of a constant term, which gojq computes once.
func literal(t gojq.Term) value {
	t.SuffixList = nil
	v, ok := (&gojq.Query{Term: &t}).Run(nil).Next()
	if _, failed := v.(error); !ok || failed {
		return nil
	}
	return func(any, []any) (any, bool) { return v, true }
}

// object returns the value of an object construction with constant keys.
func (names planner) object(o *gojq.Object) value {
	keys, members := make([]string, len(o.KeyVals)), make([]value, len(o.KeyVals))
	for i, kv := range o.KeyVals {
		keys[i] = kv.Key
		switch {
		case kv.KeyString != nil && kv.KeyString.Queries == nil:
			keys[i] = kv.KeyString.Str
		case kv.Key == "" || kv.Key[0] == '$': // computed, or a variable
			return nil
		}
		if members[i] = part(input, step{key: []byte(keys[i])}); kv.Val != nil {
			members[i] = names.query(kv.Val)
		}
		if members[i] == nil {
			return nil
		}
	}
	return func(in any, vals []any) (any, bool) {
		m := make(map[string]any, len(keys))
		for i, member := range members {
			v, ok := member(in, vals)
			if !ok {
				return nil, false
			}
			m[keys[i]] = v
		}
		return m, true
	}
}

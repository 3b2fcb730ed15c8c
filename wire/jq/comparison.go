package jq

import "github.com/itchyny/gojq"

// Comparison returns src with == in place of its outermost assignment (=, |=, += and others), or of the one in the last
// part of a pipe. ok is false if src contains no such assignment or is not a program.
func Comparison(src string) (better string, ok bool) {
	query, err := gojq.Parse(src)
	if err != nil {
		return "", false
	}
	q := query
	for {
		switch {
		case q.Op == gojq.OpPipe:
			q = q.Right
		case q.Term != nil && q.Term.Type == gojq.TermTypeQuery && len(q.Term.SuffixList) == 0:
			q = q.Term.Query
		case assigns(q.Op):
			q.Op, q.Left, q.Right = gojq.OpEq, bracketed(q.Left), bracketed(q.Right)
			return query.String(), true
		default:
			return "", false
		}
	}
}

func assigns(op gojq.Operator) bool {
	switch op {
	case gojq.OpAssign, gojq.OpModify, gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
		return true
	}
	return false
}

// bracketed returns q in brackets if it has an operator, which may bind less tightly than ==.
func bracketed(q *gojq.Query) *gojq.Query {
	if q.Op == 0 {
		return q
	}
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}
}

package jq

import (
	"reflect"

	"github.com/itchyny/gojq"
)

// Names in guarded programs. Users cannot use names with this prefix.
const (
	guardFunc = "__rpcx_fits"
	leftVar   = "$__rpcx_left"
	rightVar  = "$__rpcx_right"
)

// guarded contains the functions of jq that need a guard, how the guard checks their input, and whether it also needs
// their argument.
var guarded = map[string]struct {
	how string
	arg bool
}{
	"add": {how: "text"}, "flatten": {how: "text"}, "tojson": {how: "text"}, "tostring": {how: "text"}, "format": {how: "text"},
	"implode": {how: "text"}, "ascii": {how: "text"}, "sort": {how: "text"}, "unique": {how: "text"}, "min": {how: "text"}, "max": {how: "text"},
	"sort_by": {how: "text"}, "group_by": {how: "text"}, "unique_by": {how: "text"}, "min_by": {how: "text"}, "max_by": {how: "text"},
	"halt_error": {how: "text"}, "error": {how: "text"}, "debug": {how: "text"}, "stderr": {how: "text"}, "@json": {how: "text"},
	"tostream": {how: "text"}, "contains": {"text", true}, "inside": {"text", true}, "index": {"parts", true}, "rindex": {"parts", true},
	"indices": {"parts", true}, "bsearch": {"text", true}, "join": {"join", true}, "transpose": {how: "transpose"},
	"explode": {how: "parts"}, "split": {how: "parts"}, "fromjson": {how: "parts"}, "utf8bytelength": {how: "text"},
	"match": {how: "match"}, "test": {how: "match"}, "capture": {how: "match"}, "scan": {how: "match"}, "splits": {how: "match"},
	"sub": {how: "match"}, "gsub": {how: "match"}, "fromstream": {how: "never"}, "input": {how: "never"},
}

// prelude defines the operators that gojq calls by name in updates such as +=.
const prelude = `def _add(l; r): l + r; def _multiply(l; r): l * r; def _divide(l; r): l / r; def _subtract(l; r): l - r;`

// guard returns query with a guard before each step whose result can be much larger than its input.
func guard(query *gojq.Query) (*gojq.Query, error) {
	defs, err := gojq.Parse(prelude + ".")
	if err != nil {
		return nil, err
	}
	copied, err := gojq.Parse(query.String())
	if err != nil {
		return nil, err
	}
	copied.FuncDefs = append(defs.FuncDefs, copied.FuncDefs...)
	guardParts(reflect.ValueOf(copied))
	return copied, nil
}

// guardParts guards the parts of v, a part of a program, and then v itself.
func guardParts(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		guardParts(v.Elem())
		switch part := v.Interface().(type) {
		case *gojq.Query:
			guardOperator(part)
		case *gojq.Term:
			guardTerm(part)
		case *gojq.ObjectKeyVal:
			if s := part.KeyString; s != nil && s.Queries != nil {
				if key := joined(s, ""); part.Val != nil {
					part.KeyString, part.KeyQuery = nil, key
				} else { // {"a\(b)"} takes its value from the member of the input with that name
					s.Queries = []*gojq.Query{{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: key}}}
				}
			}
		case *gojq.Index:
			guardIndex(part)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanInterface() {
				guardParts(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			guardParts(v.Index(i))
		}
	}
}

// guardedOperators contains the operators that need a guard, apart from comparisons, and how the guard checks their operands.
var guardedOperators = map[gojq.Operator]string{gojq.OpAdd: "add", gojq.OpSub: "subtract", gojq.OpMul: "multiply", gojq.OpDiv: "divide"}

// guardOperator guards the operator of q.
func guardOperator(q *gojq.Query) {
	how := guardedOperators[q.Op]
	if comparisons[q.Op] != nil {
		how = "compare"
	}
	if how == "" || how != "multiply" && how != "divide" && (plainValue(q.Left) || plainValue(q.Right)) {
		return
	}
	left, right := call(leftVar), call(rightVar)
	defs := q.FuncDefs // the operands may call these functions
	*q = *bind(q.Right, rightVar, bind(q.Left, leftVar, pipe(fits(how, left, right), &gojq.Query{Left: left, Op: q.Op, Right: right})))
	q.FuncDefs = defs
}

// plainValue reports whether q is a number, null, true, false or a literal string.
func plainValue(q *gojq.Query) bool {
	return q.Term != nil && len(q.Term.SuffixList) == 0 && plainTerm(q.Term)
}

// plainTerm is like plainValue, but for a term without its suffixes.
func plainTerm(t *gojq.Term) bool {
	switch t.Type {
	case gojq.TermTypeNumber, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse:
		return true
	}
	return t.Type == gojq.TermTypeString && t.Str.Queries == nil
}

// guardTerm guards a call of a function, or a string with queries.
func guardTerm(t *gojq.Term) {
	inner := *t
	inner.SuffixList = nil
	alone := &gojq.Query{Term: &inner}
	switch {
	case t.Type == gojq.TermTypeString && t.Str.Queries != nil:
		alone = joined(t.Str, "")
	case t.Type == gojq.TermTypeFormat && t.Str != nil && t.Str.Queries != nil:
		alone = joined(t.Str, t.Format)
	case t.Type == gojq.TermTypeFormat:
		alone = pipe(fits("text"), alone)
	case t.Type != gojq.TermTypeFunc:
		return
	default:
		f := t.Func
		if f.Name == "setpath" && len(f.Args) == 2 || f.Name == "getpath" && len(f.Args) == 1 {
			f.Args[0] = pipe(f.Args[0], fits("index"))
			return
		}
		is, ok := guarded[f.Name]
		switch {
		case !ok:
			return
		case is.arg && len(f.Args) == 1:
			itself := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}
			alone = bind(f.Args[0], rightVar, pipe(fits(is.how, itself, call(rightVar)), call(f.Name, call(rightVar))))
		default:
			alone = pipe(fits(is.how), alone)
		}
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: alone, SuffixList: t.SuffixList}
}

// guardIndex guards an index, because an assignment could use it.
func guardIndex(x *gojq.Index) {
	if s := x.Str; s != nil && s.Queries != nil {
		x.Str, x.Start = nil, joined(s, "")
	}
	for _, at := range []**gojq.Query{&x.Start, &x.End} {
		if *at != nil && !(plainValue(*at) && len((*at).Term.Number) < 7) {
			*at = pipe(*at, fits("index"))
		}
	}
}

// joined returns a string with queries as a guarded sum of its parts, which are already guarded.
func joined(s *gojq.String, format string) *gojq.Query {
	var all *gojq.Query
	for _, part := range s.Queries {
		if part.Term == nil || part.Term.Str == nil || part.Term.Type != gojq.TermTypeString {
			as := call("tostring")
			if format != "" {
				as = &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFormat, Format: format}}
			}
			part = pipe(part, pipe(fits("text"), as))
		}
		if all == nil {
			all = part
			continue
		}
		all = &gojq.Query{Left: all, Op: gojq.OpAdd, Right: part}
		guardOperator(all)
	}
	return all
}

// call returns a call of a function, or a variable.
func call(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func pipe(left, right *gojq.Query) *gojq.Query {
	return &gojq.Query{Left: left, Op: gojq.OpPipe, Right: right}
}

func bind(value *gojq.Query, name string, body *gojq.Query) *gojq.Query {
	return &gojq.Query{Left: value, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: name}}, Right: body}
}

// fits returns a call of the guard, which returns its input if the step is small enough. operands is empty, or contains both.
func fits(how string, operands ...*gojq.Query) *gojq.Query {
	what := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeString, Str: &gojq.String{Str: how}}}
	return call(guardFunc, append([]*gojq.Query{what}, operands...)...)
}

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
	guarder{}.walk(reflect.ValueOf(copied))
	return copied, nil
}

type guarder struct{}

// walk guards the parts of v, a part of a program, and then v itself.
func (g guarder) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		g.walk(v.Elem())
		switch part := v.Interface().(type) {
		case *gojq.Query:
			g.query(part)
		case *gojq.Term:
			g.term(part)
		case *gojq.ObjectKeyVal:
			if s := part.KeyString; s != nil && s.Queries != nil {
				if key := joined(s, ""); part.Val != nil {
					part.KeyString, part.KeyQuery = nil, key
				} else { // {"a\(b)"} takes its value from the member of the input with that name
					s.Queries = []*gojq.Query{{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: key}}}
				}
			}
		case *gojq.Index:
			g.index(part)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanInterface() {
				g.walk(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			g.walk(v.Index(i))
		}
	}
}

// query guards the operator of q.
func (guarder) query(q *gojq.Query) {
	var how string
	switch q.Op {
	case gojq.OpAdd:
		how = "add"
	case gojq.OpSub:
		how = "subtract"
	case gojq.OpMul:
		how = "multiply"
	case gojq.OpDiv:
		how = "divide"
	case gojq.OpEq, gojq.OpNe, gojq.OpLt, gojq.OpLe, gojq.OpGt, gojq.OpGe:
		how = "compare"
	default:
		return
	}
	if how != "multiply" && how != "divide" && (plainValue(q.Left) || plainValue(q.Right)) {
		return
	}
	left, right := &gojq.Query{Term: variable(leftVar)}, &gojq.Query{Term: variable(rightVar)}
	defs := q.FuncDefs // the operands may call these functions
	*q = *bind(q.Right, rightVar, bind(q.Left, leftVar, pipe(fits(how, left, right), &gojq.Query{Left: left, Op: q.Op, Right: right})))
	q.FuncDefs = defs
}

// plainValue reports whether q is a number, null, true, false or a literal string.
func plainValue(q *gojq.Query) bool {
	if q.Term == nil || len(q.Term.SuffixList) > 0 {
		return false
	}
	switch q.Term.Type {
	case gojq.TermTypeNumber, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse:
		return true
	case gojq.TermTypeString:
		return q.Term.Str.Queries == nil
	}
	return false
}

// term guards a call of a function, or a string with queries.
func (guarder) term(t *gojq.Term) {
	inner := *t
	inner.SuffixList = nil
	alone := &gojq.Query{Term: &inner}
	switch {
	case t.Type == gojq.TermTypeString && t.Str.Queries != nil:
		alone = joined(t.Str, "")
	case t.Type == gojq.TermTypeFormat && t.Str != nil && t.Str.Queries != nil:
		alone = joined(t.Str, t.Format)
	case t.Type == gojq.TermTypeFormat:
		alone = pipe(fits("text", nil, nil), alone)
	case t.Type != gojq.TermTypeFunc:
		return
	default:
		f := t.Func
		if f.Name == "setpath" && len(f.Args) == 2 || f.Name == "getpath" && len(f.Args) == 1 {
			f.Args[0] = pipe(f.Args[0], fits("index", nil, nil))
			return
		}
		is, ok := guarded[f.Name]
		switch {
		case !ok:
			return
		case is.arg && len(f.Args) == 1:
			arg := f.Args[0]
			inner.Func = &gojq.Func{Name: f.Name, Args: []*gojq.Query{{Term: variable(rightVar)}}}
			alone = bind(arg, rightVar, pipe(fits(is.how, itself(), &gojq.Query{Term: variable(rightVar)}), alone))
		default:
			alone = pipe(fits(is.how, nil, nil), alone)
		}
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: alone, SuffixList: t.SuffixList}
}

// index guards an index, because an assignment could use it.
func (guarder) index(x *gojq.Index) {
	if s := x.Str; s != nil && s.Queries != nil {
		x.Str, x.Start = nil, joined(s, "")
	}
	if x.Start != nil && !(plainValue(x.Start) && len(x.Start.Term.Number) < 7) {
		x.Start = pipe(x.Start, fits("index", nil, nil))
	}
	if x.End != nil && !(plainValue(x.End) && len(x.End.Term.Number) < 7) {
		x.End = pipe(x.End, fits("index", nil, nil))
	}
}

// joined returns a string with queries as a guarded sum of its parts, which are already guarded.
func joined(s *gojq.String, format string) *gojq.Query {
	var all *gojq.Query
	for _, part := range s.Queries {
		if part.Term == nil || part.Term.Str == nil || part.Term.Type != gojq.TermTypeString {
			as := &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: "tostring"}}
			if format != "" {
				as = &gojq.Term{Type: gojq.TermTypeFormat, Format: format}
			}
			part = pipe(part, pipe(fits("text", nil, nil), &gojq.Query{Term: as}))
		}
		if all == nil {
			all = part
			continue
		}
		all = &gojq.Query{Left: all, Op: gojq.OpAdd, Right: part}
		guarder{}.query(all)
	}
	return all
}

func variable(name string) *gojq.Term {
	return &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name}}
}

func itself() *gojq.Query { return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}} }

func pipe(left, right *gojq.Query) *gojq.Query {
	return &gojq.Query{Left: left, Op: gojq.OpPipe, Right: right}
}

func bind(value *gojq.Query, name string, body *gojq.Query) *gojq.Query {
	return &gojq.Query{Left: value, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: name}}, Right: body}
}

// fits returns a call of the guard, which returns its input if the step is small enough.
func fits(how string, left, right *gojq.Query) *gojq.Query {
	args := []*gojq.Query{{Term: &gojq.Term{Type: gojq.TermTypeString, Str: &gojq.String{Str: how}}}}
	if left != nil {
		args = append(args, left, right)
	}
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: guardFunc, Args: args}}}
}

package jq

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
)

// declared is a declared variable, with the parts of its value that a program reads.
type declared struct {
	name string
	need need
}

// used returns the variables in names that src may use.
func used(src string, names []string) (some []declared) {
	for _, name := range names {
		if strings.Contains(src, "$"+name) {
			some = append(some, declared{name, neededOfVariable(src, name)})
		}
	}
	return some
}

// splitVariable is like split, but for a query that begins with a declared variable, such as $params.name. root is
// the variable's name. For other queries, path is nil and rest is query.
func (p *Program) splitVariable(query *gojq.Query) (root string, path []step, rest *gojq.Query) {
	first := query
	for first.Op == gojq.OpPipe && first.Term == nil && len(first.Patterns) == 0 {
		first = first.Left
	}
	if first.Term == nil || first.Term.Type != gojq.TermTypeFunc {
		return "", nil, query
	}
	name, ok := strings.CutPrefix(first.Term.Func.Name, "$")
	if !ok || !slices.ContainsFunc(p.vars, func(v declared) bool { return v.name == name }) {
		return "", nil, query
	}
	term := *first.Term
	term.Type, term.Func = gojq.TermTypeIdentity, nil
	path, rest = split(replaced(query, first, &term))
	if path == nil {
		return "", nil, query
	}
	return name, path, rest
}

// replaced returns query with its first part, first, replaced by term.
func replaced(query, first *gojq.Query, term *gojq.Term) *gojq.Query {
	q := *query
	if query == first {
		q.Term = term
	} else {
		q.Left = replaced(query.Left, first, term)
	}
	return &q
}

// Values returns the value of a declared variable for one run, as JSON. A nil result means null.
type Values func(name string) json.RawMessage

// IsPath reports whether p only follows a path in its input or in a declared variable. Such a program decodes nothing,
// and its output is a part of the input.
func (p *Program) IsPath() bool { return p.path != nil && p.code == nil }

// A runState is the state of a run: the values of the declared variables, and the texts of parts of the input.
type runState struct {
	vals Values
	source
}

// freeRuns contains the states of runs that have ended, for reuse.
var freeRuns = sync.Pool{New: func() any { return new(runState) }}

// maxSpans is the maximum number of spans in memory that is reused.
const maxSpans = 1 << 12

func newRunState(vals Values) *runState {
	r := freeRuns.Get().(*runState)
	r.vals = vals
	return r
}

// free makes r available for reuse. Values that r has decoded must not be used afterwards.
func (r *runState) free() {
	if cap(r.spans) > maxSpans {
		return
	}
	clear(r.spans)
	*r = runState{source: source{spans: r.spans[:0]}}
	freeRuns.Put(r)
}

// value returns the value of a declared variable.
func (r *runState) value(name string) json.RawMessage {
	if r.vals != nil {
		if v := r.vals(name); len(v) > 0 {
			return v
		}
	}
	return null
}

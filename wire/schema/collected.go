package schema

import (
	"maps"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// collected gathers what the keywords of one schema say about one value.
type collected struct {
	e      *evaluation
	s      *jsonschema.Schema
	v      *value
	errs   []*jsonschema.ValidationError
	weight int
	unsure bool // a keyword could not be decided
	seen   seen
}

// seen records which members or elements of a value some keyword has evaluated, for
// unevaluatedProperties and unevaluatedItems.
type seen struct {
	names  map[string]bool
	items  map[int]bool
	upTo   int  // the first elements, up to this index
	unsure bool // there may be more: a schema that evaluates some is not decided
}

// merge adds what another schema has evaluated at the same value.
func (s *seen) merge(o *seen) {
	if o == nil {
		return
	}
	s.unsure = s.unsure || o.unsure
	s.upTo = max(s.upTo, o.upTo)
	if len(o.names) > 0 {
		if s.names == nil {
			s.names = map[string]bool{}
		}
		maps.Copy(s.names, o.names)
	}
	if len(o.items) > 0 {
		if s.items == nil {
			s.items = map[int]bool{}
		}
		maps.Copy(s.items, o.items)
	}
}

// name records that a member was evaluated.
func (f *collected) name(name string) {
	if !f.e.tracks {
		return
	}
	if f.seen.names == nil {
		f.seen.names = map[string]bool{}
	}
	f.seen.names[name] = true
}

// item records that an element was evaluated.
func (f *collected) item(i int) {
	if !f.e.tracks {
		return
	}
	if f.seen.items == nil {
		f.seen.items = map[int]bool{}
	}
	f.seen.items[i] = true
}

// below takes the answer about a member or an element.
func (f *collected) below(a answer) {
	switch a.verdict {
	case fails:
		f.keep(a)
	case unknown:
		f.unsure = true
	}
}

// add takes the answer of another schema about the same value.
func (f *collected) add(a answer) {
	f.below(a)
	f.learn(a)
}

// learn takes over what another schema has evaluated at the same value. One that
// fails evaluates nothing.
func (f *collected) learn(a answer) {
	switch a.verdict {
	case passes:
		f.seen.merge(a.seen)
	case unknown:
		f.seen.unsure = true
	}
}

// keep adds an error, unless there are very many already: the first are enough
// to tell what is wrong.
func (f *collected) keep(a answer) {
	if len(f.errs) > 0 && f.weight+a.weight > maxCauses {
		return
	}
	f.errs, f.weight = append(f.errs, a.err), f.weight+a.weight
}

// fail adds the error that a keyword of the schema is broken, because of others.
func (f *collected) fail(k jsonschema.ErrorKind, causes ...answer) {
	a := f.e.failure(f.s, f.v, k)
	for _, c := range causes {
		if c.err == nil || len(a.err.Causes) > 0 && a.weight+c.weight > maxCauses {
			continue
		}
		a.err.Causes, a.weight = append(a.err.Causes, c.err), a.weight+c.weight
	}
	f.keep(a)
}

// answer sums up: one error makes the schema fail, and otherwise one keyword that
// is not decided makes it unknown.
func (f *collected) answer() answer {
	var known *seen
	if f.e.tracks {
		known = &f.seen
	}
	switch {
	case len(f.errs) == 1:
		return answer{verdict: fails, err: f.errs[0], weight: f.weight}
	case len(f.errs) > 1:
		a := f.e.failure(f.s, f.v, &kind.Group{})
		a.err.Causes, a.weight = f.errs, f.weight+1
		return a
	case f.unsure:
		return answer{verdict: unknown, seen: known}
	}
	return answer{verdict: passes, seen: known}
}

// conditions applies not, allOf, anyOf, oneOf and if.
func (f *collected) conditions() {
	s := f.s
	if s.Not != nil {
		switch f.e.ask(s.Not, f.v).verdict {
		case passes:
			f.fail(&kind.Not{})
		case unknown:
			f.unsure = true
		}
	}
	var failed []answer
	for _, part := range s.AllOf {
		a := f.e.ask(part, f.v)
		if f.learn(a); a.verdict == fails {
			failed = append(failed, a)
		}
		f.unsure = f.unsure || a.verdict == unknown
	}
	if failed != nil {
		f.fail(&kind.AllOf{}, failed...)
	}
	f.anyOf()
	f.oneOf()
	if s.If != nil {
		f.conditional()
	}
}

func (f *collected) anyOf() {
	if len(f.s.AnyOf) == 0 {
		return
	}
	some, unsure := false, false
	var failed []answer
	for _, part := range f.s.AnyOf {
		a := f.e.ask(part, f.v)
		f.learn(a)
		switch a.verdict {
		case passes:
			some = true
		case unknown:
			unsure = true
		case fails:
			failed = append(failed, a)
		}
		if some && !f.e.tracks {
			return
		}
	}
	switch {
	case some:
	case unsure:
		f.unsure = true
	default:
		f.fail(&kind.AnyOf{}, failed...)
	}
}

func (f *collected) oneOf() {
	if len(f.s.OneOf) == 0 {
		return
	}
	first, unsure := -1, false
	var failed []answer
	for i, part := range f.s.OneOf {
		a := f.e.ask(part, f.v)
		f.learn(a)
		switch {
		case a.verdict == passes && first >= 0:
			f.fail(&kind.OneOf{Subschemas: []int{first, i}})
			return
		case a.verdict == passes:
			first = i
		case a.verdict == unknown:
			unsure = true
		default:
			failed = append(failed, a)
		}
	}
	switch {
	case unsure:
		f.unsure = true
	case first < 0:
		f.fail(&kind.OneOf{}, failed...)
	}
}

// conditional applies if, and then or else as it turns out.
func (f *collected) conditional() {
	condition := f.e.ask(f.s.If, f.v)
	f.learn(condition)
	switch {
	case condition.verdict == passes && f.s.Then != nil:
		f.add(f.e.ask(f.s.Then, f.v))
	case condition.verdict == fails && f.s.Else != nil:
		f.add(f.e.ask(f.s.Else, f.v))
	case condition.verdict == unknown && (f.s.Then != nil || f.s.Else != nil):
		f.unsure = true
	}
}

// references applies $recursiveRef and $dynamicRef. Which of several anchors of
// one name is meant depends on how the schema was reached, which is not followed
// here: that is not known.
func (f *collected) references() {
	if target := f.s.RecursiveRef; target != nil {
		if target.RecursiveAnchor && f.e.ambiguous[""] {
			f.add(answer{})
		} else {
			f.add(f.e.reference(f.s, target, "$recursiveRef", f.v))
		}
	}
	if ref := f.s.DynamicRef; ref != nil {
		if ref.Anchor != "" && ref.Ref.DynamicAnchor == ref.Anchor && f.e.ambiguous[ref.Anchor] {
			f.add(answer{})
		} else {
			f.add(f.e.reference(f.s, ref.Ref, "$dynamicRef", f.v))
		}
	}
}

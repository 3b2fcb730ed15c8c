package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// collected accumulates the results of a schema's keywords for one value.
type collected struct {
	e      *evaluation
	s      *jsonschema.Schema
	v      *value
	broken causes
	unsure bool // a keyword has an unknown result
	seen   seen
}

// seen is the set of members or elements that a keyword has evaluated, for unevaluatedProperties and unevaluatedItems.
type seen struct {
	bits   []uint64
	unsure bool // the set may be incomplete, because a schema that evaluates members has an unknown result
}

// has reports whether part i was evaluated.
func (s *seen) has(i int) bool { return i/64 < len(s.bits) && s.bits[i/64]>>(i%64)&1 != 0 }

// grow makes room for the given number of words.
func (f *collected) grow(words int) {
	if more := words - len(f.seen.bits); more > 0 {
		f.e.spend(more)
		f.seen.bits = append(f.seen.bits, make([]uint64, more)...)
	}
}

func (f *collected) mark(i int) {
	if f.e.of.tracks {
		f.grow(i/64 + 1)
		f.seen.bits[i/64] |= 1 << (i % 64)
	}
}

// learn adds the parts of the value that another schema has evaluated. A schema that fails evaluates nothing.
func (f *collected) learn(a answer) {
	f.seen.unsure = f.seen.unsure || a.verdict == unknown || a.verdict == passes && a.seen.unsure
	if a.verdict == passes && len(a.seen.bits) > 0 {
		f.e.spend(len(a.seen.bits))
		f.grow(len(a.seen.bits))
		for i, bits := range a.seen.bits {
			f.seen.bits[i] |= bits
		}
	}
}

// below adds the result for a member or an element to f.
func (f *collected) below(a answer) {
	if !f.holds(a.verdict) {
		f.broken.add(a.failure)
	}
}

func (f *collected) add(a answer) {
	f.below(a)
	f.learn(a)
}

// fail adds a keyword's failure with its causes, and returns it.
func (f *collected) fail(rule string, because causes) *failure {
	own := f.e.failed(f.s, f.v, rule).failure
	own.causes = because
	f.broken.add(own)
	return own
}

// answer combines the results. If any failed, the schema fails. If none failed but any is unknown, so is the schema's
// result.
func (f *collected) answer() answer {
	switch {
	case len(f.broken.all) == 1:
		return answer{verdict: fails, failure: f.broken.all[0]}
	case len(f.broken.all) > 1:
		a := f.e.failed(f.s, f.v, "")
		a.failure.causes = f.broken
		return a
	case f.unsure || f.e.left < 0:
		return answer{}
	}
	return answer{verdict: passes, seen: f.seen}
}

// conditions applies not, allOf, anyOf, oneOf, if, then and else.
func (f *collected) conditions() {
	s := f.s
	if s.Not != nil {
		switch f.e.ask(s.Not, f.v).verdict {
		case passes:
			f.fail("not", causes{})
		case unknown:
			f.unsure = true
		}
	}
	var failed causes
	for _, part := range s.AllOf {
		a := f.e.ask(part, f.v)
		if f.learn(a); !f.holds(a.verdict) {
			failed.add(a.failure)
		}
	}
	if failed.all != nil {
		f.fail("allOf", failed)
	}
	f.choice("anyOf", s.AnyOf)
	f.choice("oneOf", s.OneOf)
	if s.If != nil {
		f.conditional()
	}
}

func (f *collected) choice(rule string, parts []*jsonschema.Schema) {
	if len(parts) == 0 {
		return
	}
	first, unsure := -1, false
	var failed causes
	for i, part := range parts {
		a := f.e.ask(part, f.v)
		f.learn(a)
		switch {
		case a.verdict == unknown:
			unsure = true
		case a.verdict == fails:
			failed.add(a.failure)
		case first < 0:
			first = i
		case rule == "oneOf":
			f.fail(rule, causes{}).at = [2]int{first, i}
			return
		}
		if first >= 0 && rule == "anyOf" && !f.e.of.tracks {
			return
		}
	}
	switch {
	case first >= 0 && (rule == "anyOf" || !unsure):
	case unsure:
		f.unsure = true
	default:
		f.fail(rule, failed)
	}
}

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

// unevaluated applies unevaluatedProperties and unevaluatedItems to the parts that no other keyword has evaluated. If the set of those
// parts is unknown, so is the result.
func (f *collected) unevaluated() {
	if rest := f.s.UnevaluatedProperties; rest != nil {
		var names []string
		for i := range f.v.open() {
			part := &f.v.members[i]
			switch a := f.remaining(rest, part, i); {
			case a.verdict == fails && a.failure.rule == "false":
				names = append(names, string(part.name))
			default:
				f.below(a)
			}
		}
		if names != nil {
			f.fail("unevaluatedProperties", causes{}).names = names
		}
	}
	if rest := f.s.UnevaluatedItems; rest != nil && f.v.kind() == 'a' {
		i, c := 0, f.v.elements()
		for _, raw, ok := c.Next(); ok && f.e.left >= 0; _, raw, ok = c.Next() {
			f.below(f.remaining(rest, &value{raw: raw, parent: f.v, index: i}, i))
			i++
		}
	}
}

// remaining applies a schema to part i unless a keyword has evaluated the part.
func (f *collected) remaining(schema *jsonschema.Schema, part *value, i int) answer {
	if f.seen.has(i) {
		return answer{verdict: passes}
	}
	f.mark(i)
	a := f.e.ask(schema, part)
	if f.seen.unsure && a.verdict == fails {
		return answer{}
	}
	return a
}

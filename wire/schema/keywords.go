package schema

import (
	"encoding/json"
	"math/big"
	"regexp"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// simple applies the keywords that look at a value as a whole: type, const, enum,
// format, and the bounds of a number. It returns the first rule that is broken;
// known is false if one could not be decided.
func (e *evaluation) simple(s *jsonschema.Schema, v any) (broken jsonschema.ErrorKind, known bool) {
	if n, ok := v.(json.Number); ok && !e.spend(len(n)/32) { // computing with many digits takes time
		return nil, false
	}
	if s.Types != nil && !s.Types.IsEmpty() && !hasType(s.Types.ToStrings(), v) {
		return &kind.Type{Got: typeName(v), Want: s.Types.ToStrings()}, true
	}
	known = true
	if s.Const != nil {
		switch equal, ok := e.equal(v, *s.Const); {
		case !ok:
			known = false
		case !equal:
			return &kind.Const{Got: v, Want: *s.Const}, true
		}
	}
	if s.Enum != nil {
		switch member, ok := e.among(v, s.Enum.Values); {
		case !ok:
			known = false
		case !member:
			return &kind.Enum{Got: v, Want: s.Enum.Values}, true
		}
	}
	if s.Format != nil {
		switch err, ok := e.format(s.Format, v); {
		case !ok:
			known = false
		case err != nil:
			return &kind.Format{Got: v, Want: s.Format.Name, Err: err}, true
		}
	}
	if n, ok := v.(json.Number); ok {
		if k := outside(s, n); k != nil {
			return k, true
		}
	}
	return nil, known
}

func hasType(names []string, v any) bool {
	own := typeName(v)
	for _, name := range names {
		if name == own || name == "integer" && isInteger(v) {
			return true
		}
	}
	return false
}

// equal reports whether two decoded values are equal; ok is false if there are
// no steps left to find out.
func (e *evaluation) equal(a, b any) (equal, ok bool) {
	if typeName(a) != typeName(b) {
		return false, true
	}
	switch a := a.(type) {
	case string:
		return a == b, true
	case bool, nil:
		return a == b, true
	case json.Number:
		other := b.(json.Number)
		if a == other || whole(a) && whole(other) {
			return a == other, true
		}
		return rat(a).Cmp(rat(other)) == 0, true
	}
	x := canonical(nil, a)
	y := canonical(nil, b)
	return string(x) == string(y), e.spend((len(x) + len(y)) / 16)
}

// among reports whether v is one of values.
func (e *evaluation) among(v any, values []any) (member, ok bool) {
	if !e.spend(len(values) / 8) {
		return false, false
	}
	for _, w := range values {
		if equal, ok := e.equal(v, w); equal || !ok {
			return equal, ok
		}
	}
	return false, true
}

// format applies a format. A regular expression that Go cannot compile may be one
// in the language that JSON Schema means, JavaScript's: that is not known.
func (e *evaluation) format(f *jsonschema.Format, v any) (err error, known bool) {
	text, isText := v.(string)
	if !e.spend(len(text) / 8) {
		return nil, false
	}
	if f.Name != "regex" {
		return f.Validate(v), true
	}
	if !isText {
		return nil, true
	}
	_, rerr := regexp.Compile(text)
	return nil, rerr == nil
}

// outside returns which bound of s a number breaks; nil if none.
func outside(s *jsonschema.Schema, number json.Number) jsonschema.ErrorKind {
	if s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil && s.MultipleOf == nil {
		return nil
	}
	n := rat(number)
	switch {
	case s.Minimum != nil && n.Cmp(s.Minimum) < 0:
		return &kind.Minimum{Got: n, Want: s.Minimum}
	case s.Maximum != nil && n.Cmp(s.Maximum) > 0:
		return &kind.Maximum{Got: n, Want: s.Maximum}
	case s.ExclusiveMinimum != nil && n.Cmp(s.ExclusiveMinimum) <= 0:
		return &kind.ExclusiveMinimum{Got: n, Want: s.ExclusiveMinimum}
	case s.ExclusiveMaximum != nil && n.Cmp(s.ExclusiveMaximum) >= 0:
		return &kind.ExclusiveMaximum{Got: n, Want: s.ExclusiveMaximum}
	case s.MultipleOf != nil && s.MultipleOf.Sign() != 0 && !multiple(n, s.MultipleOf):
		return &kind.MultipleOf{Got: n, Want: s.MultipleOf}
	}
	return nil
}

// text applies the keywords for strings.
func (f *collected) text() {
	s, str := f.s, f.v.v.(string)
	if s.MinLength != nil || s.MaxLength != nil {
		f.e.spend(len(str) / 64)
		n := utf8.RuneCountInString(str)
		if s.MinLength != nil && n < *s.MinLength {
			f.fail(&kind.MinLength{Got: n, Want: *s.MinLength})
		}
		if s.MaxLength != nil && n > *s.MaxLength {
			f.fail(&kind.MaxLength{Got: n, Want: *s.MaxLength})
		}
	}
	if s.Pattern == nil {
		return
	}
	switch f.e.match(s.Pattern, str) {
	case fails:
		f.fail(&kind.Pattern{Got: str, Want: s.Pattern.String()})
	case unknown:
		f.unsure = true
	}
}

// match applies a regular expression to a text; the verdict on one that Go does
// not know is unknown.
func (e *evaluation) match(re jsonschema.Regexp, text string) verdict {
	p, ok := re.(*pattern)
	switch {
	case !ok, !e.spend(1 + len(text)*p.size/64):
		return unknown
	case p.MatchString(text):
		return passes
	}
	return fails
}

// multiple reports whether n is a multiple of step.
func multiple(n, step *big.Rat) bool { return new(big.Rat).Quo(n, step).IsInt() }

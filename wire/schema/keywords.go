package schema

import (
	"cmp"
	"encoding/json"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// whole applies the keywords that concern the value as a whole. It returns the first violated one, or "".
func (f *collected) whole() string {
	s := f.s
	switch {
	case f.v.kind() == 'n' && !f.e.spend(len(f.v.raw)/32): // arithmetic with many digits takes time
		f.unsure = true
	case s.Types != nil && !s.Types.IsEmpty() && !hasType(*s.Types, f.v):
		return "type"
	case s.Const != nil && !f.holds(f.e.equal(f.v, *s.Const)):
		return "const"
	case s.Enum != nil && !f.holds(f.e.among(f.v, s.Enum.Values)):
		return "enum"
	case s.Format != nil && f.e.of.formats && !f.holds(f.e.format(s.Format, f.v)):
		return "format"
	}
	return ""
}

// holds reports whether a keyword is satisfied or unknown.
func (f *collected) holds(v verdict) bool {
	f.unsure = f.unsure || v == unknown
	return v != fails
}

func hasType(types jsonschema.Types, v *value) bool {
	has := func(name string) bool {
		more := types
		more.Add(name)
		return more == types
	}
	return has(v.typeName()) || has("integer") && v.kind() == 'n' && (whole(v.raw) || rat(v.raw).IsInt()) // such as 1 or 1.0
}

func verdictOf(ok bool) verdict {
	if ok {
		return passes
	}
	return fails
}

// equal compares a value with one from the schema.
func (e *evaluation) equal(v *value, w any) verdict {
	switch w := w.(type) {
	case string:
		return verdictOf(v.kind() == 's' && string(v.text()) == w)
	case nil:
		return verdictOf(v.kind() == '0')
	case bool:
		return verdictOf(v.kind() == 't' && w || v.kind() == 'f' && !w)
	case json.Number:
		if v.kind() != 'n' || string(v.raw) == string(w) || whole(v.raw) && whole([]byte(w)) {
			return verdictOf(string(v.raw) == string(w))
		}
		return verdictOf(rat(v.raw).Cmp(rat([]byte(w))) == 0)
	}
	other := &value{raw: []byte(encode(w))}
	if v.kind() != other.kind() {
		return fails
	}
	if !e.spend((len(v.raw) + len(other.raw)) / 16) {
		return unknown
	}
	return verdictOf(string(v.canonical(nil)) == string(other.canonical(nil)))
}

func (e *evaluation) among(v *value, values []any) verdict {
	if !e.spend(len(values) / 8) {
		return unknown
	}
	for _, w := range values {
		if equal := e.equal(v, w); equal != fails {
			return equal
		}
	}
	return fails
}

// format applies a format. The result for a regular expression that neither engine can compile is unknown, because it may still be valid
// in JavaScript.
func (e *evaluation) format(f *jsonschema.Format, v *value) verdict {
	switch {
	case v.kind() != 's':
		return passes
	case !e.spend(len(v.raw) / 8):
		return unknown
	case f.Name != "regex":
		return verdictOf(f.Validate(string(v.text())) == nil)
	}
	if _, err := newPattern(string(v.text())); err != nil {
		return unknown
	}
	return passes
}

// number applies the keywords for numbers.
func (f *collected) number() {
	s := f.s
	f.within("minimum", s.Minimum, 0, 1)
	f.within("maximum", s.Maximum, -1, 0)
	f.within("exclusiveMinimum", s.ExclusiveMinimum, 1, 1)
	f.within("exclusiveMaximum", s.ExclusiveMaximum, -1, -1)
	if step := s.MultipleOf; step != nil && step.Sign() != 0 && !new(big.Rat).Quo(rat(f.v.raw), step).IsInt() {
		f.fail("multipleOf", causes{})
	}
}

// within applies a bound to the number. The result of their comparison, -1, 0 or 1, must be between least and most.
func (f *collected) within(rule string, bound *big.Rat, least, most int) {
	if bound == nil {
		return
	}
	order := 0
	if i, err := strconv.ParseInt(string(f.v.raw), 10, 64); err == nil && bound.IsInt() && bound.Num().IsInt64() {
		order = cmp.Compare(i, bound.Num().Int64())
	} else {
		order = rat(f.v.raw).Cmp(bound)
	}
	if order < least || order > most {
		f.fail(rule, causes{})
	}
}

// text applies the keywords for strings.
func (f *collected) text() {
	s := f.s
	if s.MinLength == nil && s.MaxLength == nil && s.Pattern == nil {
		return
	}
	text := f.v.text()
	if s.MinLength != nil || s.MaxLength != nil {
		f.e.spend(len(text) / 64)
		f.size("minLength", "maxLength", s.MinLength, s.MaxLength, utf8.RuneCount(text))
	}
	if s.Pattern != nil && !f.holds(f.e.match(s.Pattern, text)) {
		f.fail("pattern", causes{})
	}
}

// size applies the minimum and the maximum of a count.
func (f *collected) size(less, more string, least, most *int, n int) {
	if least != nil && n < *least {
		f.fail(less, causes{}).at = [2]int{n, *least}
	}
	if most != nil && n > *most {
		f.fail(more, causes{}).at = [2]int{n, *most}
	}
}

// A pattern is a regular expression with its size, which determines the number of steps for a match. JSON Schema uses ECMA-262. For
// look-around and back-references, which Go does not support, it uses a backtracking engine with bounded time. If neither engine
// supports a pattern, its matches are unknown.
type pattern struct {
	*regexp.Regexp                 // nil if Go does not support the pattern
	ecma           *regexp2.Regexp // nil if Go supports the pattern, or if this library does not
	text           string
	size           int
}

// Limits for one match of the backtracking engine.
const (
	patternTime  = 100 * time.Millisecond
	patternStack = 1 << 20
)

func newPattern(text string) (*pattern, error) {
	p := &pattern{text: text, size: len(text)}
	var err error
	if p.Regexp, err = regexp.Compile(text); err == nil {
		tree, _ := syntax.Parse(text, syntax.Perl) // regexp.Compile has just done the same
		prog, _ := syntax.Compile(tree.Simplify())
		p.size = len(prog.Inst)
		return p, nil
	}
	ecma, failed := regexp2.Compile(text, regexp2.ECMAScript, regexp2.Unicode, regexp2.OptionMaxBacktrackingStackSize(patternStack))
	if failed != nil {
		return p, err
	}
	ecma.MatchTimeout = patternTime
	p.ecma = ecma
	return p, nil
}

func (p *pattern) String() string { return p.text }

// MatchString reports whether the pattern matches. The library calls it when it checks schemas.
func (p *pattern) MatchString(text string) bool {
	if p.Regexp != nil {
		return p.Regexp.MatchString(text)
	}
	if p.ecma == nil {
		return true
	}
	ok, err := p.ecma.MatchString(text)
	return ok || err != nil
}

// match applies a regular expression to a string. The verdict is unknown if no engine supports the expression or the match takes too
// long.
func (e *evaluation) match(re jsonschema.Regexp, text []byte) verdict {
	p := re.(*pattern)
	switch {
	case !e.spend(1 + len(text)*p.size/64):
		return unknown
	case p.Regexp != nil:
		return verdictOf(p.Match(text))
	case p.ecma == nil:
		return e.unevaluated("the pattern %q is not a regular expression that rpcx supports", p.text)
	}
	started := time.Now()
	ok, err := p.ecma.MatchString(string(text))
	e.spend(int(time.Since(started) / (time.Second / maxSteps)))
	if err != nil {
		return e.unevaluated("the pattern %q takes too long", p.text)
	}
	return verdictOf(ok)
}

package schema

import (
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A pattern is a regular expression with its size, which determines the steps of a match. JSON Schema uses those of ECMA-262. Go does not
// support look-around and back-references, which run on a backtracking engine with bounded time. If neither engine supports a pattern,
// its match is unknown.
type pattern struct {
	*regexp.Regexp                 // nil: Go does not support it
	ecma           *regexp2.Regexp // nil: not needed, or not supported either
	text           string
	size           int
}

// The limits of one match of a backtracking pattern.
const (
	patternTime  = 100 * time.Millisecond
	patternStack = 1 << 20
)

func newPattern(text string) (*pattern, error) {
	p := &pattern{text: text, size: len(text)}
	var err error
	if p.Regexp, err = regexp.Compile(text); err == nil {
		if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
			if prog, err := syntax.Compile(tree.Simplify()); err == nil {
				p.size = len(prog.Inst)
			}
		}
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

// MatchString reports whether the pattern matches. The library calls it when it checks a schema.
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

// match applies a regular expression to a text. The verdict is unknown if no engine supports the expression or if the match takes too
// long.
func (e *evaluation) match(re jsonschema.Regexp, text []byte) verdict {
	p := re.(*pattern)
	switch {
	case !e.spend(1 + len(text)*p.size/64):
		return unknown
	case p.Regexp != nil:
		return verdictOf(p.Match(text))
	case p.ecma == nil:
		return e.unevaluated("the pattern %q is not a regular expression that rpcx knows", p.text)
	}
	started := time.Now()
	ok, err := p.ecma.MatchString(string(text))
	e.spend(int(time.Since(started) / (time.Second / maxSteps)))
	if err != nil {
		return e.unevaluated("the pattern %q takes too long", p.text)
	}
	return verdictOf(ok)
}

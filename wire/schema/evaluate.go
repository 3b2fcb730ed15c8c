package schema

import (
	"context"
	"fmt"

	"rpcx/wire"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A verdict is the result of checking a value against a schema. A broken $ref, for example, has an unknown result,
// which neither passes nor fails. For this reason, not, oneOf and if never turn a guess into a failure.
type verdict uint8

const (
	unknown verdict = iota
	passes
	fails
)

// Limits for one check. A peer chooses the schema and the value, and even a small schema can require more steps than any machine
// can finish.
const (
	maxSteps      = 5_000_000 // steps, which take about a second
	maxCheckDepth = 10_000    // nested schemas
	maxMemory     = 200_000   // stored verdicts
	maxCauses     = 4_000     // stored failures below one failure
)

// An evaluation is one check of a value.
//
// The library compiles schemas, but its check cannot be interrupted, has no unknown results, and takes exponential time if schemas share
// references. This evaluation stores its verdicts and counts steps, including memory.
type evaluation struct {
	of       *Schema
	ctx      context.Context
	left     int // the number of remaining steps
	depth    int
	open     string              // a description of the first unknown part, or ""
	circular bool                // a schema was needed during its own evaluation on the same value
	scope    *scope              // nil without dynamic references
	verdicts map[question]answer // for targets of references
}

// A question identifies one check: a value and the target of a reference.
type question struct {
	schema *jsonschema.Schema
	at     *byte // the start of the value
	scope  *scope
}

// An answer is the result for a value and a schema.
type answer struct {
	verdict verdict
	open    bool     // the evaluation is in progress
	failure *failure // why the value fails
	seen    seen     // the parts that a passing schema has evaluated
}

// evaluation returns an evaluation for a value of size bytes.
func (s *Schema) evaluation(ctx context.Context, size int) *evaluation {
	return &evaluation{of: s, ctx: ctx, left: s.steps + size*s.stepsPerByte}
}

// spend counts steps. It returns false if no steps remain or the context has ended. All later verdicts are unknown, and the
// evaluation soon ends.
func (e *evaluation) spend(steps int) bool {
	if e.left < 0 {
		return false
	}
	before := e.left
	e.left -= steps
	if before>>12 != e.left>>12 && e.ctx.Err() != nil {
		e.left = -1
	}
	return e.left >= 0
}

// unevaluated records the reason, if it is the first, and returns the unknown verdict.
func (e *evaluation) unevaluated(reason string, args ...any) verdict {
	if e.open == "" {
		e.open = fmt.Sprintf(reason, args...)
	}
	return unknown
}

// whole evaluates a schema on the whole value.
func (e *evaluation) whole(s *jsonschema.Schema, v *value) answer {
	if e.of.dynamic {
		e.scope = &scope{}
		e.enter(s)
	}
	return e.ask(s, v)
}

func (e *evaluation) ask(s *jsonschema.Schema, v *value) answer {
	switch {
	case !e.spend(1), s.Location == unknownLocation:
		return answer{}
	case s.Bool != nil && *s.Bool:
		return answer{verdict: passes}
	case s.Bool != nil:
		return e.failed(s, v, "false")
	case e.depth >= maxCheckDepth:
		e.left = -1
		return answer{}
	}
	outer := e.scope
	if s.ID != "" {
		e.enter(s)
	}
	e.depth++
	a := e.check(s, v)
	e.depth--
	e.scope = outer
	return a
}

// failed returns the failure of v under a rule of s.
func (e *evaluation) failed(s *jsonschema.Schema, v *value, rule string) answer {
	e.spend(1)
	return answer{verdict: fails, failure: &failure{schema: s, value: v, rule: rule}}
}

// check applies the keywords of s to v.
func (e *evaluation) check(s *jsonschema.Schema, v *value) answer {
	f := collected{e: e, s: s, v: v}
	if rule := f.whole(); rule != "" {
		return e.failed(s, v, rule)
	}
	if s.Ref != nil {
		a := e.reference(s, s.Ref, "$ref", v)
		if s.DraftVersion < 2019 { // early drafts ignore keywords beside $ref
			return a
		}
		f.add(a)
	}
	switch v.kind() {
	case 'o':
		f.object()
	case 'a':
		f.array()
	case 's':
		f.text()
	case 'n':
		f.number()
	}
	f.dynamicReferences()
	f.conditions()
	if e.of.tracks {
		f.unevaluated()
	}
	return f.answer()
}

// reference applies the target of a reference, once for each value.
func (e *evaluation) reference(s, target *jsonschema.Schema, keyword string, v *value) answer {
	outer := e.scope
	e.enter(target)
	q := question{target, &v.raw[0], e.scope}
	a, ok := e.verdicts[q]
	e.circular = e.circular || a.open
	if !ok {
		wire.Put(&e.verdicts, q, answer{open: true})
		a = e.ask(target, v)
		if e.verdicts[q] = a; len(e.verdicts) > maxMemory {
			delete(e.verdicts, q)
		}
	}
	e.scope = outer
	if a.verdict == fails {
		own := e.failed(s, v, keyword)
		own.failure.add(a.failure)
		return own
	}
	return a
}

package schema

import (
	"context"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A verdict is what is known about a value and a schema. What depends on a part
// of the schema that is not known, such as a $ref that leads nowhere, is unknown:
// it neither passes nor fails, so that not, oneOf and if do not turn a guess into
// a refusal.
type verdict uint8

const (
	unknown verdict = iota
	passes
	fails
)

// Limits of one check. A peer chooses both the schema and the value, and a small
// schema can describe a number of steps that no machine comes to the end of.
const (
	maxSteps      = 5_000_000 // about a second
	maxCheckDepth = 10_000    // of schemas inside each other, at one value or below it
	maxMemory     = 200_000   // verdicts that are remembered
	maxCauses     = 4_000     // errors that are kept below one error
)

// An evaluation is one check of a value.
//
// The library compiles schemas; its own check can neither be interrupted nor say
// that something is not known, and takes exponential time where schemas refer to
// each other more than once. This one remembers its verdicts, counts its steps
// and makes the library's errors.
type evaluation struct {
	ctx       context.Context
	left      int // steps
	depth     int
	tracks    bool                // the schema has unevaluatedProperties or unevaluatedItems
	ambiguous map[string]bool     // dynamic anchors that stand in several places
	verdicts  map[question]answer // about composite schemas
	open      map[question]bool   // being answered: asked again, they go in a circle
}

// A question is whether a value fits a schema.
type question struct {
	schema *jsonschema.Schema
	value  *value
}

// An answer is the verdict on a question.
type answer struct {
	verdict verdict
	err     *jsonschema.ValidationError // why it fails
	weight  int                         // of err: how many errors it consists of
	seen    *seen                       // what a schema that passes has evaluated; nil: nothing, or it does not matter
}

// spend counts steps. It returns false when there are none left, or the context
// has ended: every verdict is unknown from then on, so that the evaluation comes
// to its end soon and what was found out holds.
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

// ask returns whether v fits s.
func (e *evaluation) ask(s *jsonschema.Schema, v *value) answer {
	switch {
	case !e.spend(1), s.Location == unknownLocation:
		return answer{}
	case s.Bool != nil && *s.Bool:
		return answer{verdict: passes}
	case s.Bool != nil:
		return e.failure(s, v, &kind.FalseSchema{})
	case !composite(s):
		return e.check(s, v)
	}
	q := question{s, v}
	if a, ok := e.verdicts[q]; ok {
		return a
	}
	if e.open[q] {
		return answer{}
	}
	if e.depth >= maxCheckDepth {
		e.left = -1
		return answer{}
	}
	e.depth++
	e.open[q] = true
	a := e.check(s, v)
	delete(e.open, q)
	e.depth--
	if len(e.verdicts) < maxMemory {
		e.verdicts[q] = a
	}
	return a
}

// composite reports whether a schema applies others, so that its verdict may be
// asked for again and again.
func composite(s *jsonschema.Schema) bool {
	return s.Ref != nil || s.DynamicRef != nil || s.RecursiveRef != nil || s.Not != nil || s.If != nil ||
		s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.Properties != nil || s.PatternProperties != nil ||
		s.AdditionalProperties != nil || s.Dependencies != nil || s.DependentSchemas != nil || s.PropertyNames != nil ||
		s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil || s.Items != nil || s.Items2020 != nil ||
		s.PrefixItems != nil || s.AdditionalItems != nil || s.Contains != nil
}

// failure returns the answer that v breaks a rule of s by itself.
func (e *evaluation) failure(s *jsonschema.Schema, v *value, k jsonschema.ErrorKind) answer {
	return answer{verdict: fails, weight: 1, err: &jsonschema.ValidationError{
		SchemaURL: s.Location, InstanceLocation: v.path(), ErrorKind: k,
	}}
}

// check applies the keywords of s to v, in the library's order.
func (e *evaluation) check(s *jsonschema.Schema, v *value) answer {
	k, known := e.simple(s, v.v)
	if k != nil {
		return e.failure(s, v, k)
	}
	f := &collected{e: e, s: s, v: v, unsure: !known}
	if s.Ref != nil {
		a := e.reference(s, s.Ref, "$ref", v)
		if s.DraftVersion < 2019 { // which ignores what stands beside it
			return a
		}
		f.add(a)
	}
	switch v.v.(type) {
	case map[string]any:
		f.object()
	case []any:
		f.array()
	case string:
		f.text()
	}
	if s.DraftVersion >= 2019 {
		f.references()
	}
	f.conditions()
	if s.DraftVersion >= 2019 && e.tracks {
		f.unevaluated()
	}
	return f.answer()
}

// reference applies the target of a $ref.
func (e *evaluation) reference(s, target *jsonschema.Schema, keyword string, v *value) answer {
	a := e.ask(target, v)
	if a.verdict != fails {
		return a
	}
	own := e.failure(s, v, &kind.Reference{Keyword: keyword, URL: target.Location})
	own.err.Causes, own.weight = flat(a.err), a.weight+1
	return own
}

// flat returns the errors that err is a group of, or err alone.
func flat(err *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if _, ok := err.ErrorKind.(*kind.Group); ok {
		return err.Causes
	}
	return []*jsonschema.ValidationError{err}
}

// whole evaluates a schema as the library's Validate does.
func (e *evaluation) whole(s *jsonschema.Schema, v any) (verdict, *jsonschema.ValidationError) {
	root := &value{v: v}
	a := e.ask(s, root)
	if a.verdict != fails {
		return a.verdict, nil
	}
	return fails, &jsonschema.ValidationError{SchemaURL: s.Location, ErrorKind: &kind.Schema{Location: s.Location}, Causes: flat(a.err)}
}

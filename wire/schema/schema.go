// Package schema checks JSON values against JSON Schemas, says in one sentence
// what does not fit, and turns text into the value that a schema wants. It is
// the only importer of the jsonschema library. Schemas come from peers: they
// never make us read files or the network.
package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/scan"
)

// Options configure Compile. The zero value is usable.
type Options struct {
	// Warn receives a sentence, once, for each part of the schema that is left
	// unchecked: a regular expression that Go cannot compile, a $ref that leads
	// nowhere. May be nil.
	Warn func(text string)
	// Right says that the document is known to be valid, so that it need not be checked.
	Right bool
}

// A Schema is one compiled schema inside a document. Any number of goroutines may
// use it at the same time.
type Schema struct {
	doc     any // the decoded document, as the compiler got it
	raw     json.RawMessage
	pointer string
	schema  *jsonschema.Schema
	order   func() []string

	mu       sync.Mutex // guards compiler and parts
	compiler *jsonschema.Compiler
	parts    map[string]*jsonschema.Schema // the schemas that Coerce needed, by pointer

	ambiguous map[string]bool // dynamic anchors that stand in several places
	tracks    bool            // it has unevaluatedProperties or unevaluatedItems
	exhausted func()          // warns, once, that a check was given up
	steps     int             // that a check may take
}

// Compile compiles the schema at pointer (a JSON pointer, "" for the whole
// document) of doc. doc may be a catalog, whose $defs a $ref then finds. A $ref
// that leads nowhere and a pattern that Go cannot compile are left unchecked,
// with a warning; anything else that is wrong with the schema is an error.
func Compile(doc json.RawMessage, pointer string, o Options) (*Schema, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	if _, ok := lookup(v, pointer); !ok {
		return nil, fmt.Errorf("reading the schema: nothing at %q", pointer)
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s, err := build(v, pointer, o)
	if err != nil {
		return nil, err
	}
	s.raw = doc
	s.order = sync.OnceValue(func() []string { return propertyOrder(s.raw, s.pointer, s.doc) })
	s.steps = maxSteps
	s.tracks = bytes.Contains(doc, []byte(`"unevaluated`))
	s.exhausted = sync.OnceFunc(func() {
		o.Warn(fmt.Sprintf("a value is left unchecked in part: checking it takes more than %d steps", s.steps))
	})
	return s, nil
}

// Check checks v. The error is a *Mismatch, or the context's. A nil v stands for
// params that were not given, and is checked as an empty object or array,
// whichever the schema wants. What cannot be known, because it depends on a part
// of the schema that is not, is no mismatch; neither is what takes too many steps
// to find out, which Options.Warn is told once.
func (s *Schema) Check(ctx context.Context, v json.RawMessage) error {
	if v == nil {
		v = s.empty()
	}
	if hasHuge(v) {
		return tooLarge()
	}
	val, err := jsonschema.UnmarshalJSON(bytes.NewReader(v))
	if err != nil {
		return &Mismatch{Rule: "json", Message: "is not JSON: " + err.Error()}
	}
	e := s.evaluation(ctx)
	if result, ve := e.whole(s.schema, val); result == fails {
		return s.mismatch(ve, val)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case e.left < 0:
		s.exhausted()
	}
	return nil
}

// evaluation returns a new evaluation of the schema.
func (s *Schema) evaluation(ctx context.Context) *evaluation {
	return &evaluation{
		ctx: ctx, left: s.steps, tracks: s.tracks, ambiguous: s.ambiguous,
		verdicts: map[question]answer{}, open: map[question]bool{},
	}
}

func tooLarge() *Mismatch {
	return &Mismatch{Rule: "type", Message: "holds a number that is too large to check"}
}

// hasHuge reports whether a number in v has more than 4096 digits or an exponent
// of more than three digits. The library would compute with all of them, which
// gives a peer a way to burn our time. v need not be valid.
func hasHuge(v []byte) bool {
	const most = 4 << 10
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			for i++; i < len(v) && v[i] != '"'; i++ {
				if v[i] == '\\' {
					i++
				}
			}
		case c >= '0' && c <= '9':
			end := i
			for end < len(v) && strings.IndexByte("0123456789.eE+-", v[end]) >= 0 {
				end++
			}
			number := v[i:end]
			if e := bytes.IndexAny(number, "eE"); len(number) > most || e >= 0 && len(bytes.TrimLeft(number[e+1:], "+-0")) > 3 {
				return true
			}
			i = end - 1
		}
	}
	return false
}

// empty returns the value that stands for one that was not given.
func (s *Schema) empty() json.RawMessage {
	switch m := s.types(nil); {
	case m&object != 0:
		return json.RawMessage("{}")
	case m&array != 0:
		return json.RawMessage("[]")
	}
	return json.RawMessage("null")
}

// ByName turns positional params into an object if the schema wants one: the
// elements get the names of the properties, in the order in which the schema
// lists them. Other params are returned as they are.
func (s *Schema) ByName(params json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(params)
	if len(trimmed) == 0 || trimmed[0] != '[' || s.types(nil)&array != 0 {
		return params
	}
	var values []json.RawMessage
	if json.Unmarshal(trimmed, &values) != nil || len(values) > len(s.order()) {
		return params
	}
	var o scan.Object
	for i, v := range values {
		o.Add(s.order()[i], v)
	}
	return o.End()
}

// Properties returns the names of the schema's properties, in its order.
func (s *Schema) Properties() []string { return s.order() }

// Package schema checks JSON values with JSON Schemas, explains each mismatch in one sentence, and converts strings to the values
// that a schema requires. It is the only importer of the jsonschema library. Schemas come from peers and never make rpcx read files
// or use the network.
package schema

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/scan"
)

// Options configure Compile. The zero value is usable.
type Options struct {
	// Warn receives a sentence, once, for each unchecked part of the schema: a regular expression that Go cannot compile, or a $ref
	// without a target. It may be nil.
	Warn func(text string)
	// Right skips the check of the document, which is known to be valid.
	Right bool
}

// A Schema is one compiled schema of a document. It is safe for concurrent use.
type Schema struct {
	raw    json.RawMessage // the document
	schema *jsonschema.Schema
	order  func() []string
	rooms  sync.Pool // of *room

	mu        sync.Mutex // guards the following members
	compiler  *jsonschema.Compiler
	resources map[*jsonschema.Schema]*resource // caches resourceOf

	docs         map[string]any // all documents, by address
	dynamic      bool           // the documents have dynamic references
	tracks       bool           // the documents have unevaluatedProperties or unevaluatedItems
	formats      bool           // formats are checked
	exhausted    func()         // warns, once, that a check has used up its steps
	steps        int            // the number of steps for one check
	stepsPerByte int            // additional steps for each byte of the value
}

// Compile compiles a schema: the place pointer ("" for the whole document) in doc. doc can be a catalog, whose $defs are then targets of
// $ref. A $ref without a target, or a pattern that Go cannot compile, causes a warning and is not checked. All other mistakes in the
// schema are errors.
func Compile(doc json.RawMessage, pointer string, o Options) (*Schema, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	if _, ok := scan.Lookup(v, pointer); !ok {
		return nil, fmt.Errorf("reading the schema: nothing found at %q", pointer)
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	s, err := build(v, pointer, o)
	if err != nil {
		return nil, err
	}
	s.ready(doc)
	s.exhausted = sync.OnceFunc(func() {
		o.Warn(fmt.Sprintf("a value was only partly checked: checking all of it takes more than %d steps", s.steps))
	})
	return s, nil
}

// ready prepares a compiled schema for checks.
func (s *Schema) ready(raw json.RawMessage) {
	s.rooms.New = func() any { return &room{} }
	s.raw, s.steps, s.resources = scan.Trim(raw), maxSteps, map[*jsonschema.Schema]*resource{}
	s.order = sync.OnceValue(func() []string { return s.propertiesOf(s.schema, allOf) })
	for _, doc := range s.docs {
		walk(doc, func(m map[string]any) {
			ref, _ := m["$ref"].(string) // its target can be a metaschema, which has dynamic references
			s.dynamic = s.dynamic || m["$dynamicRef"] != nil || m["$recursiveRef"] != nil || strings.Contains(ref, "://json-schema.org/")
			s.tracks = s.tracks || m["unevaluatedProperties"] != nil || m["unevaluatedItems"] != nil
		})
	}
}

// Check checks whether v matches the schema. It returns the most useful *Mismatch, or the error of ctx. A nil v stands
// for missing params: an empty object or array, whichever the schema requires. Unknown results are not mismatches. If a
// check needs too many steps, Options.Warn receives one warning.
func (s *Schema) Check(ctx context.Context, v json.RawMessage) error {
	if v == nil {
		v = s.empty()
	}
	root, err := read(v)
	if err != nil {
		return err
	}
	e := s.evaluation(ctx, len(v))
	a := e.whole(s.schema, root)
	switch {
	case a.verdict == fails:
		return s.best(a.failure)
	case ctx.Err() != nil:
		return ctx.Err()
	case e.left < 0:
		s.exhausted()
	}
	return nil
}

// All returns all mismatches of v in the order of their places. Too many steps are also a mismatch. open describes a part that could not
// be evaluated, so v may not match, or is "". All fails if ctx ends.
func (s *Schema) All(ctx context.Context, v json.RawMessage) (all []Mismatch, open string, err error) {
	root, err := read(v)
	if m, ok := errors.AsType[*Mismatch](err); ok {
		return []Mismatch{*m}, "", nil
	}
	home := s.rooms.Get().(*room)
	root.in = home
	defer func() { home.clear(); s.rooms.Put(home) }()
	e := s.evaluation(ctx, len(v))
	a := e.whole(s.schema, root)
	switch {
	case a.verdict == fails:
		return s.mismatches(a.failure), "", nil
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case e.left < 0:
		return []Mismatch{{Rule: "steps", Message: fmt.Sprintf("takes more than %d steps to check", s.steps+len(v)*s.stepsPerByte)}}, "", nil
	case a.verdict == unknown && e.circular:
		return []Mismatch{{Rule: "$ref", Message: "cannot be checked: a $ref in the schema refers to itself"}}, "", nil
	case a.verdict == unknown:
		return nil, cmp.Or(e.open, "a part of the schema is unknown"), nil
	}
	return nil, "", nil
}

// empty returns the value for missing params.
func (s *Schema) empty() json.RawMessage {
	switch m := s.types(nil); {
	case m&Object != 0:
		return json.RawMessage("{}")
	case m&Array != 0:
		return json.RawMessage("[]")
	}
	return json.RawMessage("null")
}

// ByName converts positional params to an object if the schema requires one. The elements get the names of the properties in the order of
// the schema. ByName returns other params unchanged.
func (s *Schema) ByName(params json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(params)
	if len(trimmed) == 0 || trimmed[0] != '[' || s.types(nil)&Array != 0 {
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

// Properties returns the names of the schema's properties in order.
func (s *Schema) Properties() []string { return s.order() }

package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A Mismatch tells why a value does not fit its schema. Of all that may be wrong
// it holds the one thing that is most useful to the person who typed the value.
type Mismatch struct {
	Pointer  string          // JSON pointer to the place in the value; "" is the whole
	Rule     string          // the keyword that is not met, such as "type"
	Message  string          // what is wrong, without the place
	Nearest  string          // the right spelling of a name or value; "" if none is near
	Property string          // the property that is missing or unknown; "" if it is about none
	Given    string          // the given property that was perhaps meant to be the missing one; "" if there is none
	Value    json.RawMessage // a value that would fit: an example for a missing property, else the nearest; nil if unknown
}

// Error names the place, what is wrong and the nearest right spelling.
func (m *Mismatch) Error() string {
	s := m.Message
	if m.Pointer != "" {
		s = brief(m.Pointer) + ": " + s
	}
	if m.Nearest != "" {
		s += "; did you mean " + m.Nearest + "?"
	}
	return s
}

// mismatch reduces the library's tree of errors to one sentence.
func (s *Schema) mismatch(ve *jsonschema.ValidationError, v any) *Mismatch {
	leaf := pick(ve)
	m := &Mismatch{Pointer: pointerOf(leaf.InstanceLocation), Rule: rule(leaf), Message: say(leaf)}
	at := schemaPointer(leaf.SchemaURL)
	switch k := leaf.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		s.unknown(m, k.Properties, s.names(at))
	case *kind.FalseSchema:
		if parent, ok := strings.CutSuffix(at, "/unevaluatedProperties"); ok && len(leaf.InstanceLocation) > 0 {
			last := len(leaf.InstanceLocation) - 1
			m.Rule, m.Pointer = "unevaluatedProperties", pointerOf(leaf.InstanceLocation[:last])
			s.unknown(m, leaf.InstanceLocation[last:], s.names(parent))
		}
	case *kind.Required:
		m.Property = k.Missing[0]
		s.missing(m, at, leaf.InstanceLocation, v)
	case *kind.Enum:
		m.nearestValue(k.Got, k.Want)
	case *kind.Const:
		m.nearestValue(k.Got, []any{k.Want})
	}
	return m
}

// unknown sets which property is not known, and which one was perhaps meant.
func (s *Schema) unknown(m *Mismatch, unknown, known []string) {
	slices.Sort(unknown)
	m.Property = unknown[0]
	for _, name := range unknown {
		if near := catalog.Nearest(name, known); near != "" {
			m.Property, m.Nearest = name, near
			break
		}
	}
	m.Message = "has no property " + brief(strconv.Quote(m.Property))
	if m.Nearest == "" && len(known) > 0 {
		m.Message += " (it has " + list(known) + ")"
	}
}

// missing adds an example value for a missing property, and tells the given
// property whose name is near, as it was perhaps misspelt: of several the first
// by name.
func (s *Schema) missing(m *Mismatch, at string, where []string, v any) {
	known := s.names(at)
	expand(s.doc, at, func(p string, _ map[string]any) {
		prop := rawAt(s.raw, p+"/properties/"+scan.Escape(m.Property))
		if prop != nil && m.Value == nil {
			m.Value = catalog.ExampleValue(prop, s.raw)
		}
	}, "allOf", "anyOf", "oneOf")
	obj, _ := lookup(v, pointerOf(where))
	given, _ := obj.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) && catalog.Nearest(name, []string{m.Property}) != "" {
			m.Message += fmt.Sprintf(" (there is %s)", strconv.Quote(name))
			m.Given, m.Nearest = name, m.Property
			return
		}
	}
}

// nearestValue sets the allowed value that is nearest to got.
func (m *Mismatch) nearestValue(got any, want []any) {
	text, ok := got.(string)
	if !ok {
		text = encode(got)
	}
	byText := map[string]any{}
	var names []string
	for _, w := range want {
		name, ok := w.(string)
		if !ok {
			name = encode(w)
		}
		byText[name] = w
		names = append(names, name)
	}
	if m.Nearest = catalog.Nearest(text, names); m.Nearest == "" && len(names) == 1 {
		m.Nearest = names[0]
	}
	if m.Nearest != "" {
		m.Value = json.RawMessage(encode(byText[m.Nearest]))
	}
}

// names returns the properties that the schema at pointer knows, in its order.
func (s *Schema) names(pointer string) []string {
	var names []string
	expand(s.doc, pointer, func(p string, _ map[string]any) {
		for _, name := range catalog.Keys(rawAt(s.raw, p+"/properties")) {
			names = addName(names, name)
		}
	}, "allOf", "anyOf", "oneOf")
	return names
}

// schemaPointer returns the JSON pointer of a schema URL of the library.
func schemaPointer(address string) string {
	_, fragment, _ := strings.Cut(address, "#")
	p, _ := unescapeFragment(fragment)
	return p
}

func unescapeFragment(fragment string) (string, bool) {
	p, err := url.PathUnescape(fragment)
	return p, err == nil
}

// pick finds, in the library's tree of errors, the one that is most useful to
// know.
func pick(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return pickBranch(e)
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			return e
		}
		return pickBranch(e)
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		if len(e.Causes) == 0 {
			return e
		}
		leaves := make([]*jsonschema.ValidationError, 0, len(e.Causes))
		for _, c := range e.Causes {
			leaves = append(leaves, pick(c))
		}
		return slices.MinFunc(leaves, byUse)
	}
	return e
}

// byUse orders errors by what should be corrected first: an unknown name is often
// the cause of a missing one.
func byUse(a, b *jsonschema.ValidationError) int {
	return cmp.Or(cmp.Compare(weight(a), weight(b)), slices.Compare(a.InstanceLocation, b.InstanceLocation),
		cmp.Compare(rule(a), rule(b)))
}

func weight(e *jsonschema.ValidationError) int {
	switch e.ErrorKind.(type) {
	case *kind.AdditionalProperties, *kind.FalseSchema:
		return 0
	case *kind.Required:
		return 2
	}
	return 1
}

// pickBranch chooses the alternative of anyOf or oneOf that was most likely
// meant: one whose constants are met, then the one that fails deepest. If all
// fail at the top, it returns e itself, which lists the alternatives.
func pickBranch(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	var best *jsonschema.ValidationError
	bestDepth, bestConstants := 0, false
	for _, c := range e.Causes {
		leaf := pick(c)
		depth, constants := len(leaf.InstanceLocation), constantBelow(c, len(e.InstanceLocation)) != nil
		if best == nil || bestConstants && !constants || constants == bestConstants && depth > bestDepth {
			best, bestDepth, bestConstants = leaf, depth, constants
		}
	}
	if one := anyConstant(e); bestConstants && one != nil {
		return one
	}
	if best == nil || len(e.Causes) > 1 && bestDepth == len(e.InstanceLocation) && weight(best) == 1 {
		return e
	}
	return best
}

// anyConstant returns one error for a member that has none of the constants that
// distinguish the alternatives; nil if they are not distinguished that way.
func anyConstant(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	one := *e
	all := &kind.Enum{}
	for i, c := range e.Causes {
		leaf := constantBelow(c, len(e.InstanceLocation))
		if leaf == nil || i > 0 && !slices.Equal(leaf.InstanceLocation, one.InstanceLocation) {
			return nil
		}
		one.InstanceLocation = leaf.InstanceLocation
		switch k := leaf.ErrorKind.(type) {
		case *kind.Const:
			all.Got, all.Want = k.Got, append(all.Want, k.Want)
		case *kind.Enum:
			all.Got, all.Want = k.Got, append(all.Want, k.Want...)
		}
	}
	one.ErrorKind, one.Causes = all, nil
	return &one
}

// constantBelow returns the error of a const or enum exactly one level below
// depth; nil if there is none.
func constantBelow(e *jsonschema.ValidationError, depth int) *jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.Const, *kind.Enum:
		if len(e.InstanceLocation) == depth+1 {
			return e
		}
		return nil
	}
	for _, c := range e.Causes {
		if leaf := constantBelow(c, depth); leaf != nil {
			return leaf
		}
	}
	return nil
}

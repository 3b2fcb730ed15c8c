package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A Mismatch is what keeps a value from fitting its schema: the one thing, of
// all that may be wrong, that is most worth saying.
type Mismatch struct {
	Pointer  string          // where in the value; "" is the whole
	Rule     string          // the keyword that is not met, such as "type"
	Message  string          // what is wrong, without the place
	Nearest  string          // the right spelling of a name or a value; "": none is near
	Property string          // the property that is missing or unknown; "": none
	Value    json.RawMessage // what would do: for a missing property an example, else the nearest value; nil: not known
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

// mismatch makes one sentence of the library's tree of errors.
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

// unknown says which property is not known, and which one was perhaps meant.
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

// missing adds an example for a missing property, and the name that stands in
// its place where there is one that is near.
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
	for name := range given {
		if !slices.Contains(known, name) && catalog.Nearest(name, []string{m.Property}) != "" {
			m.Message += fmt.Sprintf(" (there is %s)", strconv.Quote(name))
			return
		}
	}
}

// nearestValue finds the allowed value that got is nearest to.
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

// names are the properties that the schema at pointer knows of, in order.
func (s *Schema) names(pointer string) []string {
	var names []string
	expand(s.doc, pointer, func(p string, _ map[string]any) {
		for _, name := range catalog.Keys(rawAt(s.raw, p+"/properties")) {
			names = addName(names, name)
		}
	}, "allOf", "anyOf", "oneOf")
	return names
}

// schemaPointer is the place in the document that the library's address names.
func schemaPointer(address string) string {
	_, fragment, _ := strings.Cut(address, "#")
	p, _ := unescapeFragment(fragment)
	return p
}

func unescapeFragment(fragment string) (string, bool) {
	p, err := url.PathUnescape(fragment)
	return p, err == nil
}

// pick finds the error that is most worth telling.
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

// byUse puts first what should be mended first: a name that is not known is
// often the cause of one that is missing.
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

// pickBranch chooses among the alternatives the one that was most likely meant:
// one whose constants are met, then the one that fails deepest. Where all fail
// at once, the alternatives themselves are what is worth telling.
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

// anyConstant is the error of a member that is none of the constants by which
// the alternatives are told from each other; nil where they are not told so.
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

// constantBelow is the error of a const or enum just below depth that is not met;
// nil where there is none.
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

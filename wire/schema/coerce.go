package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// Append is the path element for a new array element. A name in a path of Coerce is never empty.
const Append = ""

// Coerce returns the JSON value of a word at a place in the params. path contains property names and Append. The word stays a string if
// the schema allows a string there or does not describe the place. Otherwise Coerce reads it as JSON and keeps its digits. If neither is
// possible, Coerce returns a *Mismatch. If ctx ends, it returns ctx.Err().
func (s *Schema) Coerce(ctx context.Context, path []string, word string) (json.RawMessage, error) {
	e := s.evaluation(ctx, 0)
	asText := json.RawMessage(scan.AppendQuoted(nil, word))
	if !utf8.ValidString(word) || s.fits(e, path, asText) {
		return asText, nil
	}
	trimmed := strings.TrimSpace(word)
	asJSON := json.RawMessage(trimmed)
	isJSON := json.Valid(asJSON)
	if isJSON && s.fits(e, path, asJSON) {
		return asJSON, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// Neither form fits: return the closer one, so that Check can report the reason.
	want := s.types(path)
	switch {
	case want&String != 0:
		return asText, nil
	case isJSON && TypeOf(asJSON)&want != 0:
		return asJSON, nil
	}
	m := &Mismatch{Pointer: pathPointer(path), Rule: "type", Message: fmt.Sprintf("got %s, want %s", strconv.Quote(word), want)}
	if want == 0 {
		m.Message = "no value is allowed here"
	}
	if want&Boolean != 0 {
		m.Nearest = catalog.Nearest(word, []string{"true", "false"})
	}
	return nil, m
}

// pathPointer returns path as a JSON pointer. A new element has no index yet, so its token is "-".
func pathPointer(path []string) string {
	return pointerOf(wire.Map(path, func(token string) string {
		if token == Append {
			return "-"
		}
		return token
	}))
}

// A walker follows a path through the references and combinations of a schema and collects the allowed types at its end. It visits each
// place once, which ends reference cycles.
type walker struct {
	leaf func(s *jsonschema.Schema) (set Types, all bool) // the result at the end of the path; all is set if applied schemas also count
	seen map[visit]Types
}

// A visit is a schema and the length of the remaining path.
type visit struct {
	schema *jsonschema.Schema
	left   int
}

// fits reports whether the schema allows v at path, considering only that place. An unknown verdict counts as allowed.
func (s *Schema) fits(e *evaluation, path []string, v json.RawMessage) bool {
	root, err := read(v)
	w := &walker{seen: map[visit]Types{}, leaf: func(part *jsonschema.Schema) (Types, bool) {
		if err != nil || e.whole(part, root).verdict == fails {
			return 0, true
		}
		return AnyType, true
	}}
	return w.types(s.schema, path) != 0
}

func (s *Schema) types(path []string) Types {
	w := &walker{seen: map[visit]Types{}, leaf: func(part *jsonschema.Schema) (Types, bool) { return ownTypes(part), false }}
	return w.types(s.schema, path)
}

func (w *walker) types(s *jsonschema.Schema, path []string) Types {
	at := visit{s, len(path)}
	set, ok := w.seen[at]
	if !ok {
		w.seen[at] = AnyType // ends cycles
		set = w.below(s, path)
		w.seen[at] = set
	}
	return set
}

func (w *walker) below(s *jsonschema.Schema, path []string) Types {
	if s.Bool != nil {
		if *s.Bool {
			return AnyType
		}
		return 0
	}
	set, all := AnyType, false
	if len(path) == 0 {
		if set, all = w.leaf(s); all {
			return set
		}
	} else {
		for _, next := range steps(s, path[0]) {
			set &= w.types(next, path[1:])
		}
	}
	if s.Ref != nil {
		set &= w.types(s.Ref, path)
	}
	for _, part := range s.AllOf {
		set &= w.types(part, path)
	}
	for _, parts := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		var some Types
		for _, part := range parts {
			some |= w.types(part, path)
		}
		if len(parts) > 0 {
			set &= some
		}
	}
	return set
}

// steps returns the schemas that s applies to the property named step, or to a new element.
func steps(s *jsonschema.Schema, step string) []*jsonschema.Schema {
	if step != Append {
		return property(s, step)
	}
	prefix, rest := itemsOf(s)
	if one, ok := rest.(*jsonschema.Schema); ok && len(prefix) == 0 { // otherwise the schema depends on the index
		return []*jsonschema.Schema{one}
	}
	return nil
}

// property returns the schemas that s applies to the property called name, which may be empty.
func property(s *jsonschema.Schema, name string) []*jsonschema.Schema {
	var next []*jsonschema.Schema
	if one := s.Properties[name]; one != nil {
		next = append(next, one)
	}
	for re, one := range s.PatternProperties {
		if p := re.(*pattern); p.Regexp != nil && p.MatchString(name) {
			next = append(next, one)
		}
	}
	if rest, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && len(next) == 0 {
		next = append(next, rest)
	}
	return next
}

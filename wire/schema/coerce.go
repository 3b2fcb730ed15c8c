package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// Append in a path stands for one more element of an array.
const Append = "[]"

// Coerce returns the JSON value that a word becomes at a place in the params;
// path holds property names and Append. The word stays a string where the schema
// allows a string there, or says nothing about the place; otherwise it is read as
// JSON, and keeps its digits. A word that can be neither is a *Mismatch; the
// error may also be the context's.
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
	// Nothing fits: return the form that comes nearest, so that Check can say why.
	want := s.types(path)
	switch {
	case want&text != 0:
		return asText, nil
	case isJSON && typeOf(asJSON)&want != 0:
		return asJSON, nil
	}
	m := &Mismatch{Pointer: pathPointer(path), Rule: "type", Message: fmt.Sprintf("got %s, want %s", strconv.Quote(word), want)}
	if want == 0 {
		m.Message = "nothing is allowed here"
	}
	if want&boolean != 0 {
		m.Nearest = catalog.Nearest(word, []string{"true", "false"})
	}
	return nil, m
}

// pathPointer returns path as a JSON pointer. An appended element has no index
// yet and is "-".
func pathPointer(path []string) string {
	tokens := make([]string, len(path))
	for i, p := range path {
		tokens[i] = p
		if p == Append {
			tokens[i] = "-"
		}
	}
	return pointerOf(tokens)
}

// A walker follows a path through the references and combinations of a schema,
// and finds which types may stand there. It visits each place once, so that
// circles end.
type walker struct {
	s    *Schema
	leaf func(pointer string, m map[string]any) (set typeSet, all bool) // what the schema at the end of the path says; all: with those that it applies
	seen map[visit]typeSet
}

// A visit is a schema together with how much of the path is left there.
type visit struct {
	pointer string
	left    int
}

// fits reports whether v may stand at path, as far as the schema speaks about
// that place alone. What is not known may.
func (s *Schema) fits(e *evaluation, path []string, v json.RawMessage) bool {
	root, err := read(v)
	leaf := func(pointer string, _ map[string]any) (typeSet, bool) {
		part := s.part(pointer)
		if part != nil && (err != nil || e.whole(part, root).verdict == fails) {
			return 0, true
		}
		return anyType, true
	}
	w := &walker{s: s, leaf: leaf, seen: map[visit]typeSet{}}
	return w.types(s.pointer, path) != 0
}

// part returns the compiled schema at pointer; nil if it does not compile.
func (s *Schema) part(pointer string) *jsonschema.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.parts[pointer]; !ok {
		s.parts[pointer] = s.compiled(base, pointer)
	}
	return s.parts[pointer]
}

// types returns the types that the schema allows at path.
func (s *Schema) types(path []string) typeSet {
	leaf := func(_ string, m map[string]any) (typeSet, bool) { return ownTypes(m), false }
	w := &walker{s: s, leaf: leaf, seen: map[visit]typeSet{}}
	return w.types(s.pointer, path)
}

func (w *walker) types(pointer string, path []string) typeSet {
	at := visit{pointer, len(path)}
	if set, ok := w.seen[at]; ok {
		return set
	}
	w.seen[at] = anyType // for circles
	w.seen[at] = w.below(pointer, path)
	return w.seen[at]
}

func (w *walker) below(pointer string, path []string) typeSet {
	node, _ := lookup(w.s.doc, pointer)
	m, ok := node.(map[string]any)
	switch {
	case node == false:
		return 0
	case !ok:
		return anyType
	}
	set := anyType
	if len(path) == 0 {
		own, all := w.leaf(pointer, m)
		if all {
			return own
		}
		set = own
	} else {
		for _, next := range steps(m, pointer, path[0]) {
			set &= w.types(next, path[1:])
		}
	}
	if target, ok := refTarget(m); ok {
		set &= w.types(target, path)
	}
	for i := range branches(m, "allOf") {
		set &= w.types(branch(pointer, "allOf", i), path)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var some typeSet
		for i := range branches(m, key) {
			some |= w.types(branch(pointer, key, i), path)
		}
		if len(branches(m, key)) > 0 {
			set &= some
		}
	}
	return set
}

// steps returns pointers to the schemas that m, which is at pointer, applies to
// the property or element step.
func steps(m map[string]any, pointer, step string) []string {
	var next []string
	if step == Append {
		for _, key := range []string{"items", "additionalItems"} {
			if v, ok := m[key]; ok {
				if _, isArray := v.([]any); !isArray {
					next = append(next, pointer+"/"+key)
				}
			}
		}
		if len(branches(m, "prefixItems")) > 0 || len(branches(m, "items")) > 0 {
			return nil // which schema it gets depends on its index
		}
		return next
	}
	if props, ok := m["properties"].(map[string]any); ok {
		if _, ok := props[step]; ok {
			next = append(next, pointer+"/properties/"+scan.Escape(step))
		}
	}
	if patterns, ok := m["patternProperties"].(map[string]any); ok {
		for p := range patterns {
			if re, err := regexp.Compile(p); err == nil && re.MatchString(step) {
				next = append(next, pointer+"/patternProperties/"+scan.Escape(p))
			}
		}
	}
	if _, ok := m["additionalProperties"].(map[string]any); ok && len(next) == 0 {
		next = append(next, pointer+"/additionalProperties")
	}
	return next
}

func branches(m map[string]any, key string) []any {
	b, _ := m[key].([]any)
	return b
}

func branch(pointer, key string, i int) string {
	return pointer + "/" + key + "/" + strconv.Itoa(i)
}

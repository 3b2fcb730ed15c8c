package schema

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// pointerOf joins tokens into a JSON pointer.
func pointerOf(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(scan.Escape(t))
	}
	return b.String()
}

// schemaPointer returns the JSON pointer in one of the library's schema URLs.
func schemaPointer(address string) string {
	_, fragment, _ := strings.Cut(address, "#")
	p, _ := url.PathUnescape(fragment)
	return p
}

// propertiesOf returns the properties of a schema and of the schemas that it applies, in document order.
func (s *Schema) propertiesOf(of *jsonschema.Schema, r reach) []string {
	var names []string
	s.properties(of, r, func(properties json.RawMessage) {
		for _, name := range catalog.Keys(properties) {
			names = addName(names, name)
		}
	})
	return names
}

// properties calls f for the properties of a schema and of the schemas that it applies, in document order.
func (s *Schema) properties(of *jsonschema.Schema, r reach, f func(properties json.RawMessage)) {
	expand(of, r, func(part *jsonschema.Schema) { f(scan.At(s.raw, schemaPointer(part.Location)+"/properties")) })
}

func addName(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// Limits for the number and the nesting of the schemas that apply to one value.
const (
	maxDepth    = 64
	maxExpanded = 256
)

// A reach is the set of keywords, in addition to $ref, through which a schema applies others to the same value. Each reach
// includes the preceding ones.
type reach int

const (
	allOf reach = iota
	anyOneOf
	ifThenElse
)

// expand calls f for a schema and for those that it applies to the same value.
func expand(s *jsonschema.Schema, r reach, f func(s *jsonschema.Schema)) {
	seen := map[*jsonschema.Schema]bool{}
	var visit func(depth int, all ...*jsonschema.Schema)
	visit = func(depth int, all ...*jsonschema.Schema) {
		for _, s := range all {
			if s == nil || seen[s] || depth > maxDepth || len(seen) >= maxExpanded {
				continue
			}
			seen[s] = true
			f(s)
			visit(depth+1, s.Ref)
			visit(depth+1, s.AllOf...)
			if r >= anyOneOf {
				visit(depth+1, s.AnyOf...)
				visit(depth+1, s.OneOf...)
			}
			if r >= ifThenElse {
				visit(depth+1, s.If, s.Then, s.Else)
			}
		}
	}
	visit(0, s)
}

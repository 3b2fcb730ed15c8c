package schema

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/scan"
)

// unknownURL is a document that replaces the targets of broken $refs. unknownLocation is the library's name of the
// schema in it.
const (
	unknownURL      = "rpcx:///unknown"
	unknownLocation = unknownURL + "#"
)

// maxSchemas bounds the number of schemas that a schema refers to, because the compile time grows with its square.
const maxSchemas = 5_000

// A survey visits all schemas that a schema refers to, before compilation. It repairs references, and reports the parts that
// remain unchecked.
type survey struct {
	doc     any
	lifted  string            // the pointer to the schema to compile
	places  map[string]string // from URLs of $ids to pointers
	anchors map[string]string // from URLs of $ids, with # and a name, to pointers
	drafts  *jsonschema.Compiler
	done    map[string]bool
	todo    []site
	warn    func(text string)
}

// A site is a schema in the document, with the resource in which its relative references are resolved.
type site struct {
	pointer string
	base    *url.URL
	root    string
}

// Keywords that contain one schema, a list of schemas, or a map of schemas, and keywords that refer to one.
var (
	schemaWords = []string{
		"not", "if", "then", "else", "items", "additionalItems", "contains", "additionalProperties", "propertyNames",
		"unevaluatedItems", "unevaluatedProperties",
	}
	schemaLists = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemaMaps  = []string{"properties", "patternProperties", "dependentSchemas", "dependencies"}
	references  = []string{"$ref", "$dynamicRef", "$recursiveRef"}
)

// surveyed visits the schema at pointer, and repairs references in doc. It fails if the schema or a number in it is too
// large.
func surveyed(doc any, pointer string, warn func(string)) error {
	s := &survey{
		doc: doc, lifted: pointer, warn: warn,
		places: map[string]string{base: ""}, anchors: map[string]string{}, done: map[string]bool{},
		drafts: newCompiler(jsonschema.Draft2020, noLoader{}, engine),
	}
	base, _ := url.Parse(base)
	s.collect(doc, "", base)
	s.todo = append(s.todo, site{pointer, base, ""})
	for n := 0; len(s.todo) > 0; n++ {
		if n >= maxSchemas {
			return fmt.Errorf("it consists of more than %d schemas", maxSchemas)
		}
		at := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		if err := s.visit(at); err != nil {
			return err
		}
	}
	return nil
}

// collect records the names that parts of the document have.
func (s *survey) collect(v any, pointer string, base *url.URL) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"$id", "id"} {
			if id, ok := v[key].(string); ok && id != "" {
				base = s.named(id, pointer, base)
			}
		}
		for _, key := range []string{"$anchor", "$dynamicAnchor"} {
			if name, ok := v[key].(string); ok {
				s.anchors[withoutFragment(base)+"#"+name] = pointer
			}
		}
		if v["$dynamicAnchor"] != nil { // the library compiles the anchor with its resource
			s.todo = append(s.todo, site{pointer, base, s.places[withoutFragment(base)]})
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			s.collect(v[key], pointer+"/"+scan.Escape(key), base)
		}
	case []any:
		for i, e := range v {
			s.collect(e, pointer+"/"+strconv.Itoa(i), base)
		}
	}
}

// named records the URL (or, in older drafts, the anchor) that id gives to a part of the document. It returns the new
// base.
func (s *survey) named(id, pointer string, base *url.URL) *url.URL {
	u, err := base.Parse(id)
	if err != nil {
		return base
	}
	if name, ok := strings.CutPrefix(id, "#"); ok {
		s.anchors[withoutFragment(base)+"#"+name] = pointer
		return base
	}
	s.places[withoutFragment(u)] = pointer
	return u
}

func withoutFragment(u *url.URL) string {
	text, _, _ := strings.Cut(u.String(), "#")
	return text
}

// visit reads one schema and queues the schemas that it applies.
func (s *survey) visit(at site) error {
	if s.done[at.pointer] {
		return nil
	}
	s.done[at.pointer] = true
	v, _ := scan.Lookup(s.doc, at.pointer)
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if id, ok := m["$id"].(string); ok && id != "" && id[0] != '#' {
		if u, err := at.base.Parse(id); err == nil {
			at.base, at.root = u, at.pointer
		}
	}
	if err := s.rules(m); err != nil {
		return err
	}
	for _, key := range references {
		if ref, ok := m[key].(string); ok {
			m[key] = s.reference(ref, at)
		}
	}
	for below := range subschemas(m, schemaMaps) {
		s.todo = append(s.todo, site{at.pointer + below, at.base, at.root})
	}
	return nil
}

// rules examines the keywords of m that contain no schemas.
func (s *survey) rules(m map[string]any) error {
	for key, v := range m {
		if slices.Contains(schemaWords, key) || slices.Contains(schemaLists, key) || slices.Contains(schemaMaps, key) || key == "$defs" || key == "definitions" {
			continue
		}
		if b, err := json.Marshal(v); err == nil && hasHuge(b) {
			return fmt.Errorf("it contains a number that is too large to check (at %s)", key)
		}
	}
	if p, ok := m["pattern"].(string); ok {
		if _, err := newPattern(p); err != nil {
			s.warn(fmt.Sprintf("pattern %q is left unchecked: %s", p, reason(err)))
		}
	}
	patterns, _ := m["patternProperties"].(map[string]any)
	for _, p := range slices.Sorted(maps.Keys(patterns)) {
		if _, err := newPattern(p); err != nil {
			s.warn(fmt.Sprintf("properties that match %q are left unchecked: %s", p, reason(err)))
		}
	}
	return nil
}

// subschemas yields the schemas in m, with their pointers: those of the keywords in schemaWords, in schemaLists and in
// named, whose values are schemas by name.
func subschemas(m map[string]any, named []string) iter.Seq2[string, any] {
	return func(yield func(pointer string, part any) bool) {
		more := true
		each := func(pointer string, part any) { more = more && yield(pointer, part) }
		for _, key := range schemaWords {
			if part, ok := m[key].(map[string]any); ok {
				each("/"+key, part)
			}
		}
		for _, key := range schemaLists {
			list, _ := m[key].([]any)
			for i, part := range list {
				each("/"+key+"/"+strconv.Itoa(i), part)
			}
		}
		for _, key := range named {
			by, _ := m[key].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(by)) {
				each("/"+key+"/"+scan.Escape(name), by[name])
			}
		}
	}
}

// reference returns ref, or a replacement: another reference to its target, or the unknown schema.
func (s *survey) reference(ref string, at site) string {
	u, err := at.base.Parse(ref)
	if err != nil {
		return s.lost(ref)
	}
	own := withoutFragment(u)
	root, here := s.places[own]
	switch {
	case u.Fragment != "" && u.Fragment[0] != '/':
		if where, ok := s.anchors[own+"#"+u.Fragment]; ok {
			s.todo = append(s.todo, site{where, u, root}, site{root, u, root})
			return ref
		}
	case own == withoutFragment(at.base):
		return s.inside(ref, u.Fragment, at)
	case here:
		if _, ok := scan.Lookup(s.doc, root+u.Fragment); ok {
			s.todo = append(s.todo, site{root + u.Fragment, u, root}, site{root, u, root})
			return ref
		}
	}
	if _, err := s.drafts.Compile(u.String()); err == nil { // the target is in a draft
		return ref
	}
	return s.lost(ref)
}

// inside is like reference, but for a target in the same resource. It looks for the target in the resource, in the document, and
// below the schema that is compiled.
func (s *survey) inside(ref, fragment string, at site) string {
	for _, root := range []string{at.root, "", s.lifted} {
		if _, ok := scan.Lookup(s.doc, root+fragment); !ok || fragment == "" && root == "" && s.lifted != "" {
			continue
		}
		s.todo = append(s.todo, site{root + fragment, at.base, at.root})
		if root == at.root {
			return ref
		}
		return location(root + fragment)
	}
	return s.lost(ref)
}

// lost warns about a ref that has no target, and returns its replacement.
func (s *survey) lost(ref string) string {
	s.warn(fmt.Sprintf("$ref %q has no target: left unchecked", ref))
	return unknownURL
}

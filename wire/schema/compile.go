package schema

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// base is the URL of a document inside the compiler. No loader knows its scheme.
const base = "rpcx:///document"

// drafts are tried in turn if a document does not name its own draft: many
// schemas were written for an older one.
var drafts = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}

// keywords are those of JSON Schema. A document around schemas, such as a
// catalog, may use the same members for something else.
var keywords = []string{
	"$schema", "$id", "id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor",
	"$vocabulary", "$comment", "type", "enum", "const", "not", "allOf", "anyOf", "oneOf", "if", "then", "else", "format",
	"properties", "patternProperties", "additionalProperties", "propertyNames", "required", "dependencies",
	"dependentRequired", "dependentSchemas", "unevaluatedProperties", "minProperties", "maxProperties", "items",
	"prefixItems", "additionalItems", "unevaluatedItems", "contains", "minContains", "maxContains", "minItems", "maxItems",
	"uniqueItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "contentEncoding", "contentMediaType", "contentSchema", "title", "description", "default", "examples",
	"readOnly", "writeOnly", "deprecated",
}

// build compiles the schema at pointer. A $ref that leads nowhere is taken out
// and the schema compiled again.
func build(doc any, pointer string, warn func(string)) (*Schema, error) {
	if root, ok := doc.(map[string]any); ok && pointer != "" {
		root = maps.Clone(root)
		for _, k := range keywords {
			delete(root, k)
		}
		doc = root
	}
	var warnings []string
	say := func(text string) {
		if !slices.Contains(warnings, text) {
			warnings = append(warnings, text)
		}
	}
	degradePatterns(doc, say)
	var first error
	for _, draft := range drafts {
		s, err := buildDraft(doc, pointer, draft, say)
		if err == nil {
			for _, w := range warnings {
				warn(w)
			}
			return s, nil
		}
		if first == nil {
			first = err
		}
		var invalid *jsonschema.SchemaValidationError
		if !errors.As(err, &invalid) {
			break
		}
	}
	return nil, fmt.Errorf("the schema is not usable: %w", shortError(first))
}

func buildDraft(doc any, pointer string, draft *jsonschema.Draft, say func(string)) (*Schema, error) {
	for range 1000 {
		c := jsonschema.NewCompiler()
		c.DefaultDraft(draft)
		c.UseLoader(noLoader{})
		c.AssertFormat()
		c.UseRegexpEngine(engine(say))
		if err := c.AddResource(base, doc); err != nil {
			return nil, err
		}
		compiled, err := c.Compile(location(pointer))
		if err == nil {
			return &Schema{doc: doc, pointer: pointer, schema: compiled, compiler: c, parts: map[string]*jsonschema.Schema{}}, nil
		}
		if !degradeRef(doc, pointer, err, say) {
			return nil, err
		}
	}
	return nil, errors.New("too many references lead nowhere")
}

func location(pointer string) string {
	var b strings.Builder
	b.WriteString(base + "#")
	for i, token := range strings.Split(pointer, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(url.PathEscape(token))
	}
	return b.String()
}

// noLoader refuses to load anything, so that schemas read no files and no URLs.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("schemas are not fetched")
}

// unchecked replaces a pattern that cannot be compiled; it matches everything.
type unchecked string

func (u unchecked) String() string        { return string(u) }
func (unchecked) MatchString(string) bool { return true }

func engine(say func(string)) jsonschema.RegexpEngine {
	return func(s string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(s)
		if err != nil {
			say(fmt.Sprintf("pattern %q is left unchecked: %s", s, reason(err)))
			return unchecked(s), nil
		}
		return re, nil
	}
}

func reason(err error) string {
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

// degradePatterns removes patternProperties that cannot be compiled. Since it is
// unknown which properties they name, it allows all other properties as well.
func degradePatterns(v any, say func(string)) {
	walk(v, func(m map[string]any) {
		patterns, ok := m["patternProperties"].(map[string]any)
		if !ok {
			return
		}
		for p := range patterns {
			if _, err := regexp.Compile(p); err != nil {
				say(fmt.Sprintf("properties that match %q are left unchecked: %s", p, reason(err)))
				delete(patterns, p)
				delete(m, "additionalProperties")
				delete(m, "unevaluatedProperties")
			}
		}
	})
}

// degradeRef repairs the $refs that err is about, and reports whether there were
// any.
func degradeRef(doc any, pointer string, err error, say func(string)) bool {
	var (
		noPointer *jsonschema.JSONPointerNotFoundError
		noAnchor  *jsonschema.AnchorNotFoundError
		noLoad    *jsonschema.LoadURLError
	)
	var target string
	switch {
	case errors.As(err, &noPointer):
		target = noPointer.URL
	case errors.As(err, &noAnchor):
		target = noAnchor.Reference
	case errors.As(err, &noLoad):
		target = noLoad.URL
	default:
		return false
	}
	found := false
	walk(doc, func(m map[string]any) {
		for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			ref, ok := m[key].(string)
			if !ok || !leadsTo(ref, target, noLoad != nil) {
				continue
			}
			found = true
			// A schema that came from a document of its own refers to itself as
			// the root.
			if p, ok := strings.CutPrefix(ref, "#/"); ok {
				if _, ok := lookup(doc, pointer+"/"+p); ok && pointer != "" {
					m[key] = "#" + strings.TrimPrefix(location(pointer), base+"#") + "/" + p
					continue
				}
			}
			say(fmt.Sprintf("$ref %q leads nowhere: left unchecked", ref))
			delete(m, key)
		}
	})
	return found
}

// leadsTo reports whether ref, resolved against the document, is target.
func leadsTo(ref, target string, whole bool) bool {
	from, _ := url.Parse(base)
	u, err := url.Parse(ref)
	if err != nil {
		return false
	}
	to := from.ResolveReference(u)
	if whole {
		to.Fragment, to.RawFragment = "", ""
	}
	want, err := url.Parse(target)
	if err != nil {
		return false
	}
	return to.String() == want.String() || !u.IsAbs() && u.Path == "" && u.Fragment != "" && u.Fragment == want.Fragment
}

// walk calls f for every object in v, the outer ones first.
func walk(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			walk(v[k], f)
		}
	case []any:
		for _, e := range v {
			walk(e, f)
		}
	}
}

func shortError(err error) error {
	var invalid *jsonschema.SchemaValidationError
	var ve *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &ve) {
		leaf := pick(ve)
		return fmt.Errorf("at %s: %s", place(leaf.InstanceLocation), say(leaf))
	}
	return err
}

func place(tokens []string) string {
	if len(tokens) == 0 {
		return "its root"
	}
	return pointerOf(tokens)
}

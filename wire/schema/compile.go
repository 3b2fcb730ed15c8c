package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/scan"
)

// base is the URL under which the compiler has the document. No loader exists for its scheme.
const base = "rpcx:///document"

// drafts are tried in order for documents that name no draft, because many schemas use an older one.
var drafts = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}

// keywords lists the keywords of JSON Schema. Members of a document that only contains schemas, such as a catalog, can have the
// same names but other meanings.
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

// build compiles the schema at pointer. A broken $ref, or a pattern that Go cannot compile, gives unknown results.
func build(doc any, pointer string, o Options) (*Schema, error) {
	if pointer != "" {
		doc = bare(doc)
	}
	var warnings []string
	say := func(text string) {
		if !slices.Contains(warnings, text) && len(warnings) < maxWarnings {
			warnings = append(warnings, text)
		}
	}
	if err := surveyed(doc, pointer, say); err != nil {
		return nil, fmt.Errorf("the schema is not usable: %w", err)
	}
	var first error
	for _, draft := range drafts {
		s, err := buildDraft(doc, pointer, draft, o.Right)
		if err == nil {
			for _, w := range warnings {
				o.Warn(w)
			}
			return s, nil
		}
		first = cmp.Or(first, err)
		if _, ok := errors.AsType[*jsonschema.SchemaValidationError](err); !ok {
			break
		}
	}
	return nil, unusable(first, map[string]any{base: doc})
}

// maxWarnings bounds the warnings about one schema.
const maxWarnings = 20

func buildDraft(doc any, pointer string, draft *jsonschema.Draft, right bool) (*Schema, error) {
	c := newCompiler(draft, noLoader{}, engine)
	if t, ok := any(c).(interface{ Trust() }); ok && right { // only some releases of the library have this method
		t.Trust()
	}
	if err := c.AddResource(base, doc); err != nil {
		return nil, err
	}
	if err := c.AddResource(unknownURL, true); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(location(pointer))
	if err != nil {
		return nil, err
	}
	return &Schema{schema: compiled, compiler: c, docs: map[string]any{base: doc}, formats: true}, nil
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

// noLoader refuses every load, because schemas must not read files or URLs.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("rpcx does not fetch schemas")
}

// engine compiles a pattern. It never fails: if no engine supports the pattern, its matches are unknown.
func engine(text string) (jsonschema.Regexp, error) {
	p, _ := newPattern(text)
	return p, nil
}

func reason(err error) string {
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

// walk calls f for every object in v, outer objects first.
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

// unusable returns the error for a document that is not a valid schema, phrased like errors about values.
func unusable(err error, docs map[string]any) error {
	var invalid *jsonschema.SchemaValidationError
	var ve *jsonschema.ValidationError
	if !errors.As(err, &invalid) || !errors.As(invalid.Err, &ve) {
		return fmt.Errorf("the schema is not usable: %w", err)
	}
	address, _, _ := strings.Cut(invalid.URL, "#")
	part, _ := scan.Lookup(docs[address], schemaPointer(invalid.URL))
	c := newCompiler(jsonschema.Draft2020, noLoader{}, engine)
	meta, merr := c.Compile(ve.SchemaURL)
	root, rerr := read([]byte(encode(part)))
	if merr == nil && rerr == nil {
		s := &Schema{schema: meta, compiler: c, resources: map[*jsonschema.Schema]*resource{}, dynamic: true, formats: true, steps: maxSteps}
		if a := s.evaluation(context.Background(), 0).whole(meta, root); a.verdict == fails {
			f := a.failure.useful()
			return fmt.Errorf("the schema is not usable: at %s: %s", cmp.Or(pointerOf(f.value.path()), "its root"), f.sentence())
		}
	}
	return fmt.Errorf("the schema is not usable: it is not valid")
}

// newCompiler returns a compiler that gets documents from load.
func newCompiler(draft *jsonschema.Draft, load jsonschema.URLLoader, patterns jsonschema.RegexpEngine) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.DefaultDraft(draft)
	c.UseLoader(load)
	c.UseRegexpEngine(patterns)
	return c
}

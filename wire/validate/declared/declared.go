// Package declared checks whether a catalog is consistent, and whether the results of methods match it. Every schema
// must compile, every example must match the schema that contains it, and every result must match the schema of its
// method.
//
//	declared.go   the Checker: the schemas of a catalog, and results
//	examples.go   examples and defaults inside schemas, and those of methods
package declared

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/validate"
)

// Names of the rules.
const (
	Compiles   = "schema-compiles" // a schema compiles
	Resolves   = "schema-complete" // every $ref leads to a schema, and every pattern can be compiled
	ExampleFit = "example-fits"    // an example matches its schema
	DefaultFit = "default-fits"    // a default matches its schema
	ResultFit  = "result-fits"     // a method's result matches its schema
)

// A Rule is a requirement on a peer's catalog.
type Rule struct {
	Name, Sentence string
	Level          validate.Level
}

// Rules lists all rules.
var Rules = []Rule{
	{Compiles, "A schema in the peer's catalog must be valid.", validate.Must},
	{Resolves, "All parts of a schema in the peer's catalog should be valid.", validate.Should},
	{ExampleFit, "An example should match its schema.", validate.Should},
	{DefaultFit, "A default value should match its schema.", validate.Should},
	{ResultFit, "A method's result must match its schema in the catalog.", validate.Must},
}

// Section is the specification that all of these rules refer to.
const Section = "the peer's catalog"

// A Checker compiles the schemas in a catalog and collects problems.
type Checker struct {
	catalog *catalog.Catalog
	doc     json.RawMessage
	schemas map[string]*schema.Schema // by pointer; nil if the schema does not compile
	found   []validate.Problem
}

// New compiles the schemas of c. A schema that does not compile is a problem, not an error. New fails if c cannot be
// written as JSON or if ctx ends.
func New(ctx context.Context, c *catalog.Catalog) (*Checker, error) {
	doc, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	k := &Checker{catalog: c, doc: doc, schemas: map[string]*schema.Schema{}}
	for i := range c.Methods {
		for _, place := range places(&c.Methods[i], i) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			k.compile(c.Methods[i].Name, place.pointer, place.raw)
		}
	}
	return k, nil
}

// A place is a schema in the catalog, with its pointer.
type place struct {
	pointer string
	raw     json.RawMessage
}

// places returns the schemas of m, the method at index i of the catalog.
func places(m *catalog.Method, i int) (all []place) {
	at := "/methods/" + strconv.Itoa(i)
	if m.Params != nil {
		all = append(all, place{at + "/params", m.Params})
	}
	if m.Result != nil {
		all = append(all, place{at + "/result", m.Result})
	}
	for _, content := range slices.Sorted(maps.Keys(m.Events)) {
		all = append(all, place{at + "/events/" + scan.Escape(content), m.Events[content]})
	}
	return all
}

// compile compiles raw, the schema at a pointer. If raw does not compile, it adds a problem and returns nil.
func (k *Checker) compile(method, pointer string, raw json.RawMessage) *schema.Schema {
	if s, ok := k.schemas[pointer]; ok {
		return s
	}
	doc, at := k.excerpt(pointer, raw)
	s, err := schema.Compile(doc, at, schema.Options{Warn: func(text string) {
		k.note(Resolves, method, pointer, text)
	}})
	if err != nil {
		k.note(Compiles, method, pointer, err.Error())
		s = nil
	}
	k.schemas[pointer] = s
	return s
}

// excerpt returns a document to compile and the pointer to raw in it: raw, the schema at a pointer into the catalog, and the
// $defs that it uses. Compiling takes time proportional to the document, and a catalog can have thousands of schemas. If
// raw may refer to other places, the document is the whole catalog.
func (k *Checker) excerpt(pointer string, raw json.RawMessage) (doc json.RawMessage, at string) {
	used := k.catalog.UsedDefs(raw, nil)
	if refersElsewhere(raw) || slices.ContainsFunc(slices.Collect(maps.Values(used)), refersElsewhere) {
		return k.doc, pointer
	}
	var defs, o scan.Object
	for _, name := range slices.Sorted(maps.Keys(used)) {
		defs.Add(name, used[name])
	}
	o.Add("schema", raw)
	o.Add("$defs", defs.End())
	return o.End(), "/schema"
}

// identified finds members that name a part of a schema, or that refer to such a name.
var identified = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(\$?id|\$anchor|\$dynamicAnchor|\$dynamicRef|\$recursiveRef)"\s*:\s*"`)
})

// refersElsewhere reports whether a schema may refer to other places than $defs.
func refersElsewhere(schema json.RawMessage) bool {
	for ref := range catalog.Refs(schema) {
		if _, _, ok := catalog.CutDef(ref); !ok {
			return true
		}
	}
	return identified().Match(schema)
}

func (k *Checker) note(rule, method, pointer, message string) {
	r := wire.Find(Rules, func(r *Rule) bool { return r.Name == rule })
	k.found = append(k.found, validate.Problem{
		Rule: rule, Level: r.Level, Section: Section, Method: method, Pointer: validate.Place(pointer), Message: r.Sentence + " But " + message,
	})
}

// Found returns the problems that were found since the last call. Their pointers refer to the catalog or, for
// ResultFit, to the result.
func (k *Checker) Found() []validate.Problem {
	found := k.found
	k.found = nil
	return found
}

// Result checks a method's result, or one event of its stream, with the method's schema. contentType is the content
// type of the event, or "". Result reports whether there was a schema to check with. k may be nil.
func (k *Checker) Result(ctx context.Context, method, contentType string, val json.RawMessage) bool {
	if k == nil {
		return false
	}
	i := slices.IndexFunc(k.catalog.Methods, func(m catalog.Method) bool { return m.Name == method })
	if i < 0 {
		return false
	}
	m, at := &k.catalog.Methods[i], "/methods/"+strconv.Itoa(i)
	pointer, raw := at+"/result", m.Result
	if event, ok := m.Events[contentType]; ok {
		pointer, raw = at+"/events/"+scan.Escape(contentType), event
	} else if contentType != "" && m.Kind == catalog.Stream || m.Result == nil {
		return false
	}
	s := k.compile(method, pointer, raw)
	if s == nil {
		return false
	}
	k.fits(ctx, s, ResultFit, method, "", val)
	return true
}

// fits checks val, and adds a problem under the rule if val does not match s. at is the pointer to val.
func (k *Checker) fits(ctx context.Context, s *schema.Schema, rule, method, at string, val json.RawMessage) {
	if mis, ok := errors.AsType[*schema.Mismatch](s.Check(ctx, scan.OrNull(val))); ok {
		k.note(rule, method, at+mis.Pointer, mis.Error())
	}
}

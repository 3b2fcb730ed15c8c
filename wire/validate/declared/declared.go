// Package declared holds a catalog against itself, and what methods return against
// it: every schema can be used, every example fits the schema beside which it
// stands, every result fits what was said of it.
//
//	declared.go   Checker: the schemas of a catalog, and results
//	examples.go   examples and defaults inside schemas, and those of methods
package declared

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// The rules that a catalog keeps.
const (
	Compiles   = "schema-compiles" // a schema can be used
	Resolves   = "schema-complete" // all of it can be: no $ref leads nowhere, no pattern is unknown to Go
	ExampleFit = "example-fits"    // an example fits its schema
	DefaultFit = "default-fits"    // a default fits its schema
	ResultFit  = "result-fits"     // what a method returns fits
)

// A Finding is one thing that is not as it was said to be.
type Finding struct {
	Rule    string
	Method  string
	Pointer string // into the catalog; of a ResultFit into the value
	Message string
}

// A Checker is a catalog whose schemas are ready.
type Checker struct {
	catalog *catalog.Catalog
	doc     json.RawMessage
	schemas map[string]*schema.Schema // by pointer; nil: it cannot be used
	found   []Finding
	seen    map[string]bool // pointers whose examples were looked at
}

// New compiles the schemas of c. The error is one of writing the catalog.
func New(c *catalog.Catalog) (*Checker, error) {
	doc, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	k := &Checker{catalog: c, doc: doc, schemas: map[string]*schema.Schema{}, seen: map[string]bool{}}
	for i := range c.Methods {
		for _, place := range places(&c.Methods[i], i) {
			k.compile(c.Methods[i].Name, place.pointer)
		}
	}
	return k, nil
}

// A place is where a schema stands in the catalog.
type place struct {
	pointer string
	raw     json.RawMessage
}

// places are the schemas of a method, which is the i-th.
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

// compile makes a schema ready.
func (k *Checker) compile(method, pointer string) *schema.Schema {
	if s, ok := k.schemas[pointer]; ok {
		return s
	}
	s, err := schema.Compile(k.doc, pointer, schema.Options{Warn: func(text string) {
		k.note(Resolves, method, pointer, text)
	}})
	if err != nil {
		k.note(Compiles, method, pointer, err.Error())
		s = nil
	}
	k.schemas[pointer] = s
	return s
}

func (k *Checker) note(rule, method, pointer, message string) {
	k.found = append(k.found, Finding{rule, method, pointer, message})
}

// Found returns what was found since it was asked last.
func (k *Checker) Found() []Finding {
	found := k.found
	k.found = nil
	return found
}

// Result holds what a method returned, or one event of its stream, against what was
// said of it. contentType is the event's; "": it has none. It reports whether
// anything was said of it.
func (k *Checker) Result(ctx context.Context, method, contentType string, val json.RawMessage) bool {
	i := slices.IndexFunc(k.catalog.Methods, func(m catalog.Method) bool { return m.Name == method })
	if i < 0 {
		return false
	}
	m, at := &k.catalog.Methods[i], "/methods/"+strconv.Itoa(i)
	pointer := at + "/result"
	if _, ok := m.Events[contentType]; ok {
		pointer = at + "/events/" + scan.Escape(contentType)
	} else if contentType != "" && m.Kind == catalog.Stream || m.Result == nil {
		return false
	}
	s := k.compile(method, pointer)
	if s == nil {
		return false
	}
	k.fits(ctx, s, ResultFit, method, "", val)
	return true
}

// fits notes where val does not fit s. at is where val stands.
func (k *Checker) fits(ctx context.Context, s *schema.Schema, rule, method, at string, val json.RawMessage) {
	if val == nil {
		val = json.RawMessage("null")
	}
	var mis *schema.Mismatch
	if err := s.Check(ctx, val); errors.As(err, &mis) {
		k.note(rule, method, at+mis.Pointer, mis.Error())
	}
}

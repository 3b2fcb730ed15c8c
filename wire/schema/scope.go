package schema

import (
	"maps"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A scope maps each dynamic anchor to the schema that defines it in the outermost resource on the path of the
// evaluation. The name "" stands for $recursiveAnchor.
type scope struct {
	anchors map[string]*jsonschema.Schema
	inner   map[*resource]*scope
}

// A resource is a schema with its own $id, or a document.
type resource struct {
	address string
	at      string
	anchors map[string]*jsonschema.Schema
}

// anchorCost is the number of steps for each anchor in a scope.
const anchorCost = 16

// enter adds the resource of s to the scope.
func (e *evaluation) enter(s *jsonschema.Schema) {
	if e.scope == nil {
		return
	}
	r := e.of.resourceOf(s)
	if in := e.scope.inner[r]; in != nil {
		e.scope = in
		return
	}
	in := e.scope
	for name, target := range r.anchors {
		if in.anchors[name] != nil {
			continue
		}
		if in == e.scope {
			e.spend(anchorCost * (1 + len(in.anchors)))
			in = &scope{anchors: maps.Clone(in.anchors)}
		}
		wire.Put(&in.anchors, name, target)
	}
	wire.Put(&e.scope.inner, r, in)
	e.scope = in
}

// dynamicReferences applies $recursiveRef and $dynamicRef.
func (f *collected) dynamicReferences() {
	if target := f.s.RecursiveRef; target != nil {
		if target.RecursiveAnchor {
			target = f.e.outermost("", target)
		}
		f.add(f.e.reference(f.s, target, "$recursiveRef", f.v))
	}
	if ref := f.s.DynamicRef; ref != nil {
		target := ref.Ref
		if ref.Anchor != "" && target.DynamicAnchor == ref.Anchor {
			target = f.e.outermost(ref.Anchor, target)
		}
		f.add(f.e.reference(f.s, target, "$dynamicRef", f.v))
	}
}

func (e *evaluation) outermost(name string, otherwise *jsonschema.Schema) *jsonschema.Schema {
	if e.scope != nil && e.scope.anchors[name] != nil {
		return e.scope.anchors[name]
	}
	return otherwise
}

// resourceOf returns the resource of a compiled schema.
func (s *Schema) resourceOf(c *jsonschema.Schema) *resource {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.resources[c]; r != nil {
		return r
	}
	address, _, _ := strings.Cut(c.Location, "#")
	pointer := schemaPointer(c.Location)
	doc, at := s.docs[address], ""
	for end, c := range pointer + "/" { // the innermost $id on the way to the schema
		if c == '/' {
			if here, _ := scan.Lookup(doc, pointer[:end]); hasID(here) {
				at = pointer[:end]
			}
		}
	}
	own := s.compiled(address, at)
	if r := s.resources[own]; r != nil {
		s.resources[c] = r
		return r
	}
	r := &resource{address: address, at: at, anchors: map[string]*jsonschema.Schema{}}
	if own != nil && own.RecursiveAnchor {
		r.anchors[""] = own
	}
	if own != nil && own.DynamicAnchor != "" {
		r.anchors[own.DynamicAnchor] = own
	}
	root, _ := scan.Lookup(doc, at)
	s.anchors(r, root, at)
	s.resources[c], s.resources[own] = r, r
	return r
}

func hasID(v any) bool {
	m, _ := v.(map[string]any)
	id, _ := m["$id"].(string)
	return id != ""
}

// compiled returns the compiled schema at a pointer, or nil.
func (s *Schema) compiled(address, pointer string) *jsonschema.Schema {
	c, _ := s.compiler.Compile(address + strings.TrimPrefix(location(pointer), base))
	return c
}

// anchors collects the dynamic anchors in v, a part of the resource r.
func (s *Schema) anchors(r *resource, v any, pointer string) {
	switch v := v.(type) {
	case map[string]any:
		if pointer != r.at && hasID(v) {
			return
		}
		if name, ok := v["$dynamicAnchor"].(string); ok {
			if c := s.compiled(r.address, pointer); c != nil && c.DynamicAnchor == name {
				r.anchors[name] = c
			}
		}
		for key, part := range v {
			s.anchors(r, part, pointer+"/"+scan.Escape(key))
		}
	case []any:
		for i, part := range v {
			s.anchors(r, part, pointer+"/"+strconv.Itoa(i))
		}
	}
}

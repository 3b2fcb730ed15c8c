package schema

import (
	"encoding/json"
	"regexp"
	"slices"

	"rpcx/wire/catalog"
)

// An Undescribed is a member of a value that its schema allows, but says nothing
// about, although it describes others: it may be misspelt, or newer than the
// schema.
type Undescribed struct {
	Pointer string // JSON pointer to the member
	Name    string
	Nearest string // the described name that is near and not given; "" if none is
}

// maxUndescribed bounds the members that Undescribed returns.
const maxUndescribed = 16

// Undescribed returns the members of v, which fits, that the schema does not
// describe. Where the names cannot all be known, because a part of the schema is
// not, it returns none.
func (s *Schema) Undescribed(v json.RawMessage) []Undescribed {
	val, err := read(v)
	if err != nil {
		return nil
	}
	d := &describer{s: s}
	d.visit(val, []string{s.pointer})
	return d.found
}

// A describer compares the names in a value with those that a schema describes.
type describer struct {
	s     *Schema
	found []Undescribed
}

// visit looks at a part of the value to which the schemas at these pointers apply.
func (d *describer) visit(v *value, pointers []string) {
	switch v.kind() {
	case 'o':
		known := &described{}
		for _, p := range pointers {
			known.read(d.s.doc, p)
		}
		for i := range v.open() {
			d.member(&v.members[i], known)
		}
	case 'a':
		i, c := -1, v.elements()
		for _, raw, ok := c.Next(); ok; _, raw, ok = c.Next() {
			i++
			var next []string
			for _, p := range pointers {
				next = append(next, elementAt(d.s.doc, p, i)...)
			}
			if len(next) > 0 && len(d.found) < maxUndescribed {
				d.visit(&value{raw: raw, parent: v, index: i}, next)
			}
		}
	}
}

// member looks at one member.
func (d *describer) member(v *value, known *described) {
	name := string(v.name)
	var next []string
	for _, s := range known.schemas {
		next = append(next, steps(s.m, s.pointer, name)...)
	}
	switch {
	case len(next) > 0:
		if len(next) <= stepsAtOnce && len(d.found) < maxUndescribed {
			d.visit(v, next)
		}
	case known.open || len(known.names) == 0 || slices.Contains(known.names, name) || len(d.found) >= maxUndescribed:
	default:
		free := slices.DeleteFunc(slices.Clone(known.names), func(n string) bool { return v.parent.member(n) != nil })
		d.found = append(d.found, Undescribed{pointerOf(v.path()), name, catalog.Nearest(name, free)})
	}
}

// stepsAtOnce bounds how many schemas are followed that apply to one part.
const stepsAtOnce = 64

// described lists the members of an object that schemas describe.
type described struct {
	schemas []located
	names   []string
	open    bool // members of any name are described, or what is described is not known
}

// A located is a schema and where it stands.
type located struct {
	m       map[string]any
	pointer string
}

// read adds what the schema at pointer says.
func (d *described) read(doc any, pointer string) {
	expand(doc, pointer, func(p string, m map[string]any) {
		d.schemas = append(d.schemas, located{m, p})
		props, _ := m["properties"].(map[string]any)
		for name := range props {
			d.names = append(d.names, name)
		}
		if _, isMap := m["additionalProperties"].(map[string]any); isMap {
			d.open = true
		}
		patterns, _ := m["patternProperties"].(map[string]any)
		for p := range patterns {
			if _, err := regexp.Compile(p); err != nil {
				d.open = true
			}
		}
		for _, key := range []string{"dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef", "unevaluatedProperties"} {
			d.open = d.open || m[key] != nil
		}
		if _, local := refTarget(m); m["$ref"] != nil && !local {
			d.open = true
		}
	}, "allOf", "anyOf", "oneOf", "if", "then", "else")
	slices.Sort(d.names)
}

// elementAt returns the schemas that the one at pointer has for the i-th element.
func elementAt(doc any, pointer string, i int) []string {
	var next []string
	expand(doc, pointer, func(p string, m map[string]any) {
		for _, key := range []string{"prefixItems", "items"} {
			if i < len(branches(m, key)) {
				next = append(next, branch(p, key, i))
				return
			}
		}
		next = append(next, steps(m, p, Append)...)
	}, "allOf", "anyOf", "oneOf")
	return next
}

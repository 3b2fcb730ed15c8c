package schema

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/catalog"
)

// An Undescribed is a member that a schema allows but does not describe, although it describes others. The member may be misspelt,
// or newer than the schema.
type Undescribed struct {
	Pointer string // the JSON pointer to the member
	Name    string
	Nearest string // a similar name that the schema describes and the value lacks, or ""
}

// maxUndescribed bounds the result of Undescribed.
const maxUndescribed = 16

// Undescribed returns the members of v, a matching value, that the schema does not describe. It returns none if an unknown part of the
// schema may describe further names.
func (s *Schema) Undescribed(v json.RawMessage) []Undescribed {
	val, err := read(v)
	if err != nil {
		return nil
	}
	d := &describer{}
	d.visit(val, []*jsonschema.Schema{s.schema})
	return d.found
}

// A describer compares the names in a value with the names that a schema describes.
type describer struct{ found []Undescribed }

// visit checks a part of the value to which schemas apply.
func (d *describer) visit(v *value, schemas []*jsonschema.Schema) {
	switch v.kind() {
	case 'o':
		known := &described{}
		for _, s := range schemas {
			known.read(s)
		}
		for i := range v.open() {
			d.member(&v.members[i], known)
		}
	case 'a':
		i, c := -1, v.elements()
		for _, raw, ok := c.Next(); ok; _, raw, ok = c.Next() {
			i++
			var next []*jsonschema.Schema
			for _, s := range schemas {
				next = append(next, elementAt(s, i)...)
			}
			if len(next) > 0 && len(d.found) < maxUndescribed {
				d.visit(&value{raw: raw, parent: v, index: i}, next)
			}
		}
	}
}

func (d *describer) member(v *value, known *described) {
	name := string(v.name)
	var next []*jsonschema.Schema
	for _, s := range known.schemas {
		next = append(next, property(s, name)...)
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

// stepsAtOnce bounds the number of schemas that visit applies to one part.
const stepsAtOnce = 64

// described is the set of members that some schemas describe.
type described struct {
	schemas []*jsonschema.Schema
	names   []string
	open    bool // members of any name are allowed, or the names are unknown
}

// read adds the names in a schema.
func (d *described) read(s *jsonschema.Schema) {
	expand(s, ifThenElse, func(s *jsonschema.Schema) {
		d.schemas = append(d.schemas, s)
		d.names = slices.AppendSeq(d.names, maps.Keys(s.Properties))
		for re := range s.PatternProperties {
			d.open = d.open || re.(*pattern).Regexp == nil
		}
		_, others := s.AdditionalProperties.(*jsonschema.Schema)
		d.open = d.open || others || s.DependentSchemas != nil || s.Dependencies != nil || s.DynamicRef != nil || s.RecursiveRef != nil ||
			s.UnevaluatedProperties != nil || s.Location == unknownLocation
	})
	slices.Sort(d.names)
}

// elementAt returns the schemas of s for element i.
func elementAt(s *jsonschema.Schema, i int) (next []*jsonschema.Schema) {
	expand(s, anyOneOf, func(s *jsonschema.Schema) {
		if prefix, _ := itemsOf(s); i < len(prefix) {
			next = append(next, prefix[i])
		} else {
			next = append(next, steps(s, Append)...)
		}
	})
	return next
}

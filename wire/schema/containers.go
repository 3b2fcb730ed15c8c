package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/scan"
)

// object applies the keywords for objects.
func (f *collected) object() {
	s := f.s
	f.e.spend(len(f.v.raw) / 64)
	f.size("minProperties", "maxProperties", s.MinProperties, s.MaxProperties, len(f.v.open()))
	f.required("required", "", s.Required)
	f.dependencies()
	if s.Properties != nil || s.PatternProperties != nil || s.AdditionalProperties != nil {
		f.members()
	}
	if s.PropertyNames != nil {
		for i := range f.v.members {
			f.propertyName(&f.v.members[i])
		}
	}
}

// required applies a keyword that requires members. because is the member on which the requirement depends, or "".
func (f *collected) required(rule, because string, names []string) {
	f.e.spend(len(names) / 8)
	var missing []string
	for _, name := range names {
		if f.v.member(name) == nil {
			missing = append(missing, name)
		}
	}
	switch {
	case missing == nil:
	case because != "":
		f.fail(rule, causes{}).names = append(missing, because)
	default:
		f.fail(rule, causes{}).names = missing
	}
}

// dependencies applies the keywords that depend on the presence of a member.
func (f *collected) dependencies() {
	f.e.spend((len(f.s.Dependencies) + len(f.s.DependentSchemas) + len(f.s.DependentRequired)) / 8)
	for name, dep := range f.s.Dependencies {
		if f.v.member(name) == nil {
			continue
		}
		switch dep := dep.(type) {
		case []string:
			f.required("dependencies", name, dep)
		case *jsonschema.Schema:
			f.add(f.e.ask(dep, f.v))
		}
	}
	for name, schema := range f.s.DependentSchemas {
		if f.v.member(name) != nil {
			f.add(f.e.ask(schema, f.v))
		}
	}
	for name, names := range f.s.DependentRequired {
		if f.v.member(name) != nil {
			f.required("dependentRequired", name, names)
		}
	}
}

// members applies properties, patternProperties and additionalProperties.
func (f *collected) members() {
	var additional []string
	for i := range f.v.members {
		if !f.e.spend(1) {
			return
		}
		m := &f.v.members[i]
		named, perhaps := f.named(m)
		if named || f.s.AdditionalProperties != nil {
			f.mark(i)
		}
		if named || f.s.AdditionalProperties == nil {
			continue
		}
		allowed, isBool := f.s.AdditionalProperties.(bool)
		switch rest, _ := f.s.AdditionalProperties.(*jsonschema.Schema); {
		case isBool && allowed:
		case perhaps: // it is unknown whether the other rules apply to it
			f.unsure = f.unsure || isBool || f.e.ask(rest, m).verdict != passes
		case isBool:
			additional = append(additional, string(m.name))
		default:
			f.below(f.e.ask(rest, m))
		}
	}
	if additional != nil {
		f.fail("additionalProperties", causes{}).names = additional
	}
}

// named applies the schemas for the name of a member. named is false if no schema applies, and perhaps is true if there may be
// another one, whose pattern is unknown.
func (f *collected) named(m *value) (named, perhaps bool) {
	if schema, ok := f.s.Properties[string(m.name)]; ok {
		named = true
		f.below(f.e.ask(schema, m))
	}
	for re, schema := range f.s.PatternProperties {
		switch f.e.match(re, m.name) {
		case passes:
			named = true
			f.below(f.e.ask(schema, m))
		case unknown:
			perhaps = true
			f.seen.unsure = true
			f.unsure = f.unsure || f.e.ask(schema, m).verdict != passes
		}
	}
	return named, perhaps
}

func (f *collected) propertyName(m *value) {
	name := *f.v
	name.raw, name.members, name.read = scan.AppendQuoted(nil, string(m.name)), nil, false
	switch a := f.e.ask(f.s.PropertyNames, &name); a.verdict {
	case unknown:
		f.unsure = true
	case fails:
		own := f.e.failed(f.s.PropertyNames, f.v, "propertyNames").failure
		own.names = []string{string(m.name)}
		own.add(a.failure)
		f.broken.add(own)
	}
}

// array applies the keywords for arrays.
func (f *collected) array() {
	s := f.s
	f.e.spend(len(f.v.raw) / 64)
	if s.MinItems != nil || s.MaxItems != nil {
		f.size("minItems", "maxItems", s.MinItems, s.MaxItems, scan.Count(f.v.raw))
	}
	if s.UniqueItems {
		f.unique()
	}
	if prefix, rest := itemsOf(s); prefix != nil || rest != nil {
		f.items(prefix, rest)
	}
	if s.Contains != nil {
		f.contains()
	}
}

// itemsOf returns the schemas of the first elements, and the schema of the others: a *jsonschema.Schema, a bool, or nil.
func itemsOf(s *jsonschema.Schema) (prefix []*jsonschema.Schema, rest any) {
	if s.Items2020 != nil {
		rest = s.Items2020
	}
	if s.DraftVersion >= 2020 {
		return s.PrefixItems, rest
	}
	if one, ok := s.Items.(*jsonschema.Schema); ok {
		return nil, one
	}
	prefix, _ = s.Items.([]*jsonschema.Schema)
	return prefix, s.AdditionalItems
}

// items applies prefix to the first elements and rest to the others.
func (f *collected) items(prefix []*jsonschema.Schema, rest any) {
	schema, _ := rest.(*jsonschema.Schema)
	allowed, isBool := rest.(bool)
	i, c := 0, f.v.elements()
	for _, raw, ok := c.Next(); ok && f.e.left >= 0; _, raw, ok = c.Next() {
		at := schema
		switch {
		case i < len(prefix):
			at = prefix[i]
		case schema == nil && !isBool:
			return
		}
		if at != nil {
			f.item(at, raw, i)
		}
		f.mark(i)
		i++
	}
	if isBool && !allowed {
		f.size("", "additionalItems", nil, new(len(prefix)), i)
	}
}

// item applies a schema to an element. It reuses the element's memory unless a failure or a stored verdict refers to it.
func (f *collected) item(s *jsonschema.Schema, raw []byte, i int) {
	if f.e.verdicts != nil {
		f.below(f.e.ask(s, &value{raw: raw, parent: f.v, index: i}))
		return
	}
	element, mark := f.v.element(raw, i)
	a := f.e.ask(s, element)
	if f.below(a); a.verdict == passes && f.e.verdicts == nil {
		f.v.free(mark)
	}
}

func (f *collected) unique() {
	at := map[string]int{}
	c := f.v.elements()
	for _, raw, ok := c.Next(); ok; _, raw, ok = c.Next() {
		if !f.e.spend(1 + len(raw)/16) {
			return
		}
		text := string((&value{raw: raw}).canonical(nil))
		if j, ok := at[text]; ok {
			f.fail("uniqueItems", causes{}).at = [2]int{j, len(at)}
			return
		}
		at[text] = len(at)
	}
}

// contains applies contains, minContains and maxContains.
func (f *collected) contains() {
	s := f.s
	var others causes
	i, fit, unsure, c := 0, 0, 0, f.v.elements()
	for _, raw, ok := c.Next(); ok && f.e.left >= 0; _, raw, ok = c.Next() {
		switch a := f.e.ask(s.Contains, &value{raw: raw, parent: f.v, index: i}); {
		case a.verdict == fails:
			others.add(a.failure)
		case a.verdict == unknown:
			unsure++
			f.seen.unsure = f.seen.unsure || s.DraftVersion >= 2020
		default:
			fit++
			if s.DraftVersion >= 2020 {
				f.mark(i)
			}
		}
		i++
	}
	rule, least := "contains", 1
	if s.MinContains != nil {
		rule, least = "minContains", *s.MinContains
	}
	switch {
	case f.e.left < 0:
	case fit+unsure < least:
		f.fail(rule, others).at = [2]int{fit, least}
	case fit < least:
		f.unsure = true
	}
	switch {
	case s.MaxContains == nil:
	case fit > *s.MaxContains:
		f.fail("maxContains", causes{}).at = [2]int{fit, *s.MaxContains}
	case fit+unsure > *s.MaxContains:
		f.unsure = true
	}
}

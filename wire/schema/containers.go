package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// object applies the keywords for objects.
func (f *collected) object() {
	s, v := f.s, f.v
	v.open()
	if s.MinProperties != nil && len(v.names) < *s.MinProperties {
		f.fail(&kind.MinProperties{Got: len(v.names), Want: *s.MinProperties})
	}
	if s.MaxProperties != nil && len(v.names) > *s.MaxProperties {
		f.fail(&kind.MaxProperties{Got: len(v.names), Want: *s.MaxProperties})
	}
	if missing := f.missing(s.Required); missing != nil {
		f.fail(&kind.Required{Missing: missing})
	}
	f.dependencies()
	if s.Properties != nil || s.PatternProperties != nil || s.AdditionalProperties != nil {
		f.members()
	}
	if s.PropertyNames != nil {
		for _, name := range v.names {
			f.propertyName(name)
		}
	}
}

// missing returns those of names that the object lacks.
func (f *collected) missing(names []string) []string {
	f.e.spend(len(names) / 8)
	var missing []string
	for _, name := range names {
		if f.v.members[name] == nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// dependencies applies what depends on a member that is there.
func (f *collected) dependencies() {
	for name, dep := range f.s.Dependencies {
		if f.v.members[name] == nil {
			continue
		}
		switch dep := dep.(type) {
		case []string:
			if missing := f.missing(dep); missing != nil {
				f.fail(&kind.Dependency{Prop: name, Missing: missing})
			}
		case *jsonschema.Schema:
			f.add(f.e.ask(dep, f.v))
		}
	}
	for name, schema := range f.s.DependentSchemas {
		if f.v.members[name] != nil {
			f.add(f.e.ask(schema, f.v))
		}
	}
	for name, required := range f.s.DependentRequired {
		if f.v.members[name] == nil {
			continue
		}
		if missing := f.missing(required); missing != nil {
			f.fail(&kind.DependentRequired{Prop: name, Missing: missing})
		}
	}
}

// members applies properties, patternProperties and additionalProperties.
func (f *collected) members() {
	var additional []string
	for _, name := range f.v.names {
		if !f.e.spend(1) {
			f.unsure = true
			return
		}
		named, perhaps := f.named(name)
		if named || f.s.AdditionalProperties == nil {
			continue
		}
		f.name(name)
		allowed, isBool := f.s.AdditionalProperties.(bool)
		switch rest, _ := f.s.AdditionalProperties.(*jsonschema.Schema); {
		case isBool && allowed:
		case perhaps: // whether the rest is about it is not known
			f.unsure = f.unsure || isBool || f.e.ask(rest, f.v.members[name]).verdict != passes
		case isBool:
			additional = append(additional, name)
		default:
			f.below(f.e.ask(rest, f.v.members[name]))
		}
	}
	if additional != nil {
		f.fail(&kind.AdditionalProperties{Properties: additional})
	}
}

// named applies to a member the schemas that name it. named is false if none
// does; perhaps is true if one of those may, whose pattern is not known.
func (f *collected) named(name string) (named, perhaps bool) {
	member := f.v.members[name]
	if schema, ok := f.s.Properties[name]; ok {
		named = true
		f.below(f.e.ask(schema, member))
	}
	for re, schema := range f.s.PatternProperties {
		switch f.e.match(re, name) {
		case passes:
			named = true
			f.below(f.e.ask(schema, member))
		case unknown:
			perhaps = true
			f.seen.unsure = true
			f.unsure = f.unsure || f.e.ask(schema, member).verdict != passes
		}
	}
	if named {
		f.name(name)
	}
	return named, perhaps
}

// propertyName applies propertyNames to one name.
func (f *collected) propertyName(name string) {
	a := f.e.ask(f.s.PropertyNames, &value{v: name, parent: f.v.parent, token: f.v.token})
	switch a.verdict {
	case unknown:
		f.unsure = true
	case fails:
		own := f.e.failure(f.s.PropertyNames, f.v, &kind.PropertyNames{Property: name})
		own.err.Causes, own.weight = flat(a.err), a.weight+1
		f.keep(own)
	}
}

// array applies the keywords for arrays.
func (f *collected) array() {
	s, v := f.s, f.v
	v.open()
	if s.MinItems != nil && len(v.items) < *s.MinItems {
		f.fail(&kind.MinItems{Got: len(v.items), Want: *s.MinItems})
	}
	if s.MaxItems != nil && len(v.items) > *s.MaxItems {
		f.fail(&kind.MaxItems{Got: len(v.items), Want: *s.MaxItems})
	}
	if s.UniqueItems {
		f.unique()
	}
	if s.DraftVersion < 2020 {
		f.olderItems()
	} else {
		n := min(len(s.PrefixItems), len(v.items))
		f.each(0, n, func(i int) *jsonschema.Schema { return s.PrefixItems[i] })
		if s.Items2020 != nil {
			f.each(n, len(v.items), func(int) *jsonschema.Schema { return s.Items2020 })
		}
	}
	if s.Contains != nil {
		f.contains()
	}
}

// each applies a schema to each element from one index to another.
func (f *collected) each(from, to int, schema func(i int) *jsonschema.Schema) {
	for i := from; i < to; i++ {
		f.below(f.e.ask(schema(i), f.v.items[i]))
		if f.e.left < 0 {
			return
		}
	}
	f.seen.upTo = max(f.seen.upTo, to)
}

// olderItems applies items and additionalItems as they were before draft 2020-12.
func (f *collected) olderItems() {
	n := 0
	switch items := f.s.Items.(type) {
	case *jsonschema.Schema:
		n = len(f.v.items)
		f.each(0, n, func(int) *jsonschema.Schema { return items })
	case []*jsonschema.Schema:
		n = min(len(items), len(f.v.items))
		f.each(0, n, func(i int) *jsonschema.Schema { return items[i] })
	}
	switch rest := f.s.AdditionalItems.(type) {
	case bool:
		if !rest && n < len(f.v.items) {
			f.fail(&kind.AdditionalItems{Count: len(f.v.items) - n})
		}
		f.seen.upTo = len(f.v.items)
	case *jsonschema.Schema:
		f.each(n, len(f.v.items), func(int) *jsonschema.Schema { return rest })
	}
}

// unique applies uniqueItems.
func (f *collected) unique() {
	at := make(map[string]int, len(f.v.items))
	for i, item := range f.v.items {
		text := string(canonical(nil, item.v))
		if !f.e.spend(1 + len(text)/16) {
			f.unsure = true
			return
		}
		if j, ok := at[text]; ok {
			f.fail(&kind.UniqueItems{Duplicates: [2]int{j, i}})
			return
		}
		at[text] = i
	}
}

// contains applies contains, minContains and maxContains.
func (f *collected) contains() {
	s := f.s
	var matched []int
	var failed []answer
	unsure := 0
	for i, item := range f.v.items {
		switch a := f.e.ask(s.Contains, item); a.verdict {
		case passes:
			matched = append(matched, i)
			if s.DraftVersion >= 2020 {
				f.item(i)
			}
		case unknown:
			unsure++
			f.seen.unsure = f.seen.unsure || s.DraftVersion >= 2020
		case fails:
			failed = append(failed, a)
		}
	}
	least := 1
	if s.MinContains != nil {
		least = *s.MinContains
	}
	switch {
	case len(matched)+unsure < least && s.MinContains != nil:
		f.fail(&kind.MinContains{Got: matched, Want: least}, failed...)
	case len(matched)+unsure < least:
		f.fail(&kind.Contains{}, failed...)
	case len(matched) < least:
		f.unsure = true
	}
	switch {
	case s.MaxContains == nil:
	case len(matched) > *s.MaxContains:
		f.fail(&kind.MaxContains{Got: matched, Want: *s.MaxContains})
	case len(matched)+unsure > *s.MaxContains:
		f.unsure = true
	}
}

// unevaluated applies unevaluatedProperties and unevaluatedItems to what no other
// keyword has looked at. Where that is not known, neither is this.
func (f *collected) unevaluated() {
	if rest := f.s.UnevaluatedProperties; rest != nil && f.v.members != nil {
		for _, name := range f.v.names {
			if !f.seen.names[name] {
				f.remaining(rest, f.v.members[name])
				f.name(name)
			}
		}
	}
	if rest := f.s.UnevaluatedItems; rest != nil && f.v.items != nil {
		for i, item := range f.v.items {
			if i >= f.seen.upTo && !f.seen.items[i] {
				f.remaining(rest, item)
			}
		}
		f.seen.upTo = len(f.v.items)
	}
}

// remaining applies a schema to a part that was perhaps not evaluated.
func (f *collected) remaining(schema *jsonschema.Schema, part *value) {
	a := f.e.ask(schema, part)
	if f.seen.unsure && a.verdict != passes {
		f.unsure = true
		return
	}
	f.below(a)
}

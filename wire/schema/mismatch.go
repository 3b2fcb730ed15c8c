package schema

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A Mismatch is one reason why a value does not match a schema.
type Mismatch struct {
	Rule    string `json:"rule"`              // the violated keyword, such as "type"
	Schema  string `json:"section,omitempty"` // the keyword's JSON pointer, preceded by the name of the file if it is another one
	Pointer string `json:"pointer"`           // the JSON pointer into the value; "" is the whole value
	Message string `json:"message"`           // the mistake, without the place

	// Check sets these suggestions for the user who typed the value.

	Nearest  string          `json:"-"` // the nearest correct name or value, or ""
	Property string          `json:"-"` // the missing or unknown property that the mismatch is about, or ""
	Given    string          `json:"-"` // an existing property that may be a misspelling of Property, or ""
	Value    json.RawMessage `json:"-"` // a correct value (an example for a missing property, otherwise the nearest one), or nil

	// Branches are the alternatives of a oneOf or anyOf that has no match, nearest first. Only All sets them.
	Branches []Branch `json:"branches,omitempty"`
}

// A Branch is one alternative of a oneOf or anyOf.
type Branch struct {
	Number     int        `json:"number"`         // its number in the schema, from 1
	Name       string     `json:"name,omitempty"` // the last part of the $ref, or ""
	Mismatches []Mismatch `json:"findings"`
}

// Error returns the place, the mistake and the nearest correct spelling.
func (m *Mismatch) Error() string {
	s := m.Message
	if m.Pointer != "" {
		s = brief(m.Pointer) + ": " + s
	}
	if m.Nearest != "" {
		s += "; did you mean " + m.Nearest + "?"
	}
	return s
}

// mismatch converts a single failure to a Mismatch.
func (s *Schema) mismatch(f *failure, message string) Mismatch {
	return Mismatch{Pointer: pointerOf(f.value.path()), Rule: f.rule, Schema: s.place(f.schema.Location), Message: message}
}

// place converts the library's address of a schema to a form for users.
func (s *Schema) place(address string) string {
	file, _, _ := strings.Cut(address, "#")
	if own, _, _ := strings.Cut(s.schema.Location, "#"); file == own {
		return schemaPointer(address)
	}
	return inFolder(file) + "#" + schemaPointer(address)
}

// best returns the most useful failure of a tree, with suggestions for the user who typed the value.
func (s *Schema) best(root *failure) *Mismatch {
	f := root.useful()
	m := s.mismatch(f, f.sentence())
	switch f.rule {
	case "additionalProperties", "unevaluatedProperties":
		m.unknown(f.names, s.propertiesOf(f.schema, anyOneOf))
	case "required":
		m.Property = f.names[0]
		s.missing(&m, f)
	case "enum", "const":
		m.nearestValue(f.value, f.wanted())
	}
	return &m
}

// unknown sets the unknown property, and the known one with the most similar name.
func (m *Mismatch) unknown(unknown, known []string) {
	m.Property = unknown[0]
	for _, name := range unknown {
		if near := catalog.Nearest(name, known); near != "" {
			m.Property, m.Nearest = name, near
			break
		}
	}
	m.Message = "has no property " + brief(strconv.Quote(m.Property))
	if m.Nearest == "" && len(known) > 0 {
		m.Message += " (it has " + list(known) + ")"
	}
}

// missing adds an example of the missing property, and an existing property with a similar name. Among several such names, it
// chooses the first in order.
func (s *Schema) missing(m *Mismatch, f *failure) {
	known := s.propertiesOf(f.schema, anyOneOf)
	s.properties(f.schema, anyOneOf, func(properties json.RawMessage) {
		if prop := scan.Get(properties, m.Property); prop != nil && m.Value == nil {
			m.Value = catalog.ExampleValue(prop, s.raw)
		}
	})
	for _, given := range f.value.open() {
		name := string(given.name)
		if !slices.Contains(known, name) && catalog.Nearest(name, []string{m.Property}) != "" {
			m.Message += " (there is " + strconv.Quote(name) + ")"
			m.Given, m.Nearest = name, m.Property
			return
		}
	}
}

// nearestValue sets the allowed value nearest to got.
func (m *Mismatch) nearestValue(got *value, want []any) {
	text := got.String()
	if got.kind() == 's' {
		text = string(got.text())
	}
	byText := map[string]any{}
	var names []string
	for _, w := range want {
		name, ok := w.(string)
		if !ok {
			name = encode(w)
		}
		byText[name] = w
		names = append(names, name)
	}
	if m.Nearest = catalog.Nearest(text, names); m.Nearest == "" && len(names) == 1 {
		m.Nearest = names[0]
	}
	if m.Nearest != "" {
		m.Value = json.RawMessage(encode(byText[m.Nearest]))
	}
}

// mismatches collects the innermost failures of a tree, in the order of their places.
func (s *Schema) mismatches(root *failure) (all []Mismatch) {
	var visit func(f *failure)
	visit = func(f *failure) {
		switch {
		case f.passesOn():
			for _, c := range f.all {
				visit(c)
			}
		case f.isChoice():
			all = append(all, s.alternatives(f))
		default:
			all = append(all, s.mismatch(f, f.sentence()))
		}
	}
	visit(root)
	compare := func(a, b Mismatch) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	}
	slices.SortStableFunc(all, compare)
	return slices.CompactFunc(all, func(a, b Mismatch) bool { return compare(a, b) == 0 })
}

// alternatives returns the mismatch of a oneOf or anyOf without a matching alternative. The alternatives are sorted: first those
// with matching constants, then those for the type of the value, then those with the fewest and deepest mistakes.
func (s *Schema) alternatives(f *failure) Mismatch {
	type ranked struct {
		Branch
		rank []int
	}
	m := s.mismatch(f, "")
	var all []ranked
	for i, c := range f.all {
		b := Branch{Number: i + 1, Mismatches: s.mismatches(c)}
		if ref := f.alternatives()[i].Ref; ref != nil {
			name := ref.Location[strings.LastIndexAny(ref.Location, "/#")+1:]
			b.Name, _ = url.PathUnescape(name)
		}
		otherType := slices.ContainsFunc(b.Mismatches, func(of Mismatch) bool { return of.Pointer == m.Pointer && of.Rule == "type" })
		rank := []int{one(c.constantBelow(f.depth()) != nil), one(otherType), len(b.Mismatches), -c.deepest()}
		all = append(all, ranked{Branch: b, rank: rank})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return slices.Compare(a.rank, b.rank) })
	m.Branches = append(m.Branches, wire.Map(all, func(r ranked) Branch { return r.Branch })...)
	m.Message = "matches no alternative; the nearest of " + strconv.Itoa(len(f.alternatives())) + " is " + m.Branches[0].why(m.Pointer)
	return m
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// why returns the name and the first mismatch of a branch. The place of the mismatch is relative to at, the pointer to
// the value.
func (b Branch) why(at string) string {
	title := "number " + strconv.Itoa(b.Number)
	if b.Name != "" {
		title += " (" + brief(b.Name) + ")"
	}
	first := b.Mismatches[0]
	place := "the value"
	if below := strings.TrimPrefix(first.Pointer, at); below != "" {
		place = brief(below)
	}
	return title + ", but " + place + " " + first.Message
}

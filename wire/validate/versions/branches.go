package versions

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// unions compares oneOf, anyOf and allOf. It returns true if only one of the schemas is a choice, because no other part
// can be compared in this case.
func (c *comparison) unions(x node) bool {
	_, before := enumOf(x.old)
	_, after := enumOf(x.now)
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if before && after { // node compares these values
			break
		}
		a, b := list(x.old, keyword), list(x.now, keyword)
		switch {
		case a != nil && b != nil:
			c.alternatives(x, keyword, "alternative", "alternative")
		case b != nil && c.turned(x, keyword, b, true), a != nil && c.turned(x, keyword, a, false):
			return true
		}
	}
	c.alternatives(x, "allOf", "condition", "part")
	return false
}

// alternatives compares the alternatives of oneOf or anyOf, or the parts of allOf. stem is the first part of the kinds of
// difference, and what is the name of one of them.
func (c *comparison) alternatives(x node, keyword, stem, what string) {
	a, b := list(x.old, keyword), list(x.now, keyword)
	pairs, removed, added := matched(a, b)
	for _, p := range pairs {
		c.schema(a[p[0]], b[p[1]], x.branch(keyword, p[0], p[1]), x.dir)
	}
	for _, i := range removed {
		c.differ(stem+"-removed", x.dir, x.branch(keyword, i, 0), "%s %d of %s was removed: %s", what, i+1, keyword, form(a[i]))
	}
	for _, i := range added {
		c.differ(stem+"-added", x.dir, x.branch(keyword, 0, i), "%s %d of %s is new: %s", what, i+1, keyword, form(b[i]))
	}
}

// otherForms are the keywords for the same forms: oneOf instead of anyOf, and the reverse.
var otherForms = map[string]string{"oneOf": "anyOf", "anyOf": "oneOf"}

// turned compares a schema with the choice that replaced it (into is set) or that it replaced. If the schema is one of
// the choice's forms, turned reports the other forms as new or removed, and returns true.
func (c *comparison) turned(x node, keyword string, forms []any, into bool) bool {
	single, choice, change, words := x.old, x.now, "added", "alternative %d of %s is new: %s"
	if !into {
		single, choice, change, words = x.now, x.old, "removed", "alternative %d of %s was removed: %s"
	}
	if other := otherForms[keyword]; list(single, other) != nil && list(choice, other) == nil { // the same forms under the other keyword
		return false
	}
	i := index(forms, bareOf(single))
	switch {
	case i < 0 && into:
		c.differ("condition-added", x.dir, x.at(keyword), "it must be one of %d forms", len(forms))
	case i < 0:
		c.differ("condition-removed", x.dir, x.at(keyword), "it no longer has to be one of %d forms", len(forms))
	}
	for j := range forms {
		at := x.branch(keyword, 0, j)
		if !into {
			at = x.branch(keyword, j, 0)
		}
		if i >= 0 && j != i {
			c.differ("alternative-"+change, x.dir, at, words, j+1, keyword, form(forms[j]))
		}
	}
	return i >= 0
}

func (x node) branch(keyword string, i, j int) place {
	return place{x.at(keyword, strconv.Itoa(i)).old, x.at(keyword, strconv.Itoa(j)).now}
}

// matched pairs the alternatives of two lists: first those that are equal, then those with the same name, then those
// with the same constant, then those of the same type. removed and added are the indexes of the alternatives that have no
// counterpart.
func matched(a, b []any) (pairs [][2]int, removed, added []int) {
	usedA, usedB := map[int]bool{}, map[int]bool{}
	for _, same := range []func(x, y any) bool{reflect.DeepEqual, sameName, sameConstant, sameType} {
		for i := range a {
			for j := range b {
				if !usedA[i] && !usedB[j] && same(a[i], b[j]) {
					usedA[i], usedB[j] = true, true
					pairs = append(pairs, [2]int{i, j})
				}
			}
		}
	}
	for i := range a {
		if !usedA[i] {
			removed = append(removed, i)
		}
	}
	for j := range b {
		if !usedB[j] {
			added = append(added, j)
		}
	}
	return pairs, removed, added
}

// sameName reports whether both schemas have the same $ref or title.
func sameName(a, b any) bool {
	x, y := asObject(a), asObject(b)
	for _, name := range []string{"$ref", "title"} {
		if s := text(x, name); s != "" && s == text(y, name) {
			return true
		}
	}
	return false
}

// sameConstant reports whether both schemas have a property with the same single value, because it usually
// distinguishes alternatives.
func sameConstant(a, b any) bool {
	x, y := constants(a), constants(b)
	for name, v := range x {
		if reflect.DeepEqual(v, y[name]) {
			return true
		}
	}
	return false
}

func constants(v any) map[string]any {
	all := map[string]any{}
	for name, p := range member(asObject(v), "properties") {
		if values, ok := enumOf(asObject(p)); ok && len(values) == 1 {
			all[name] = values[0]
		}
	}
	return all
}

// sameType reports whether both schemas have the same type and no constants that distinguish them.
func sameType(a, b any) bool {
	x, y := asObject(a), asObject(b)
	return x["type"] != nil && reflect.DeepEqual(x["type"], y["type"]) && len(constants(a)) == 0 && len(constants(b)) == 0
}

// index returns the index of the alternative that equals v except for annotations, or -1.
func index(all []any, v map[string]any) int {
	return slices.IndexFunc(all, func(e any) bool { return reflect.DeepEqual(bareOf(asObject(e)), v) })
}

func bareOf(m map[string]any) map[string]any {
	bare := maps.Clone(m)
	maps.DeleteFunc(bare, func(name string, _ any) bool { return slices.Contains(remarks, name) })
	return bare
}

func form(v any) string {
	m := asObject(v)
	for _, name := range []string{"title", "$ref"} {
		if s := text(m, name); s != "" {
			return s
		}
	}
	known := constants(v)
	for _, name := range union(known, nil) {
		return name + " " + brief(known[name])
	}
	return sketch(m)
}

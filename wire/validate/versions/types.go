package versions

import (
	"reflect"
	"slices"

	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// typesOf returns the types that a schema allows, from type, enum or const.
func typesOf(m map[string]any) schema.Types {
	var set schema.Types
	switch t := m["type"].(type) {
	case string:
		return schema.TypeNamed(t)
	case []any:
		for _, name := range t {
			s, _ := name.(string)
			set |= schema.TypeNamed(s)
		}
		return set
	}
	values, ok := enumOf(m)
	if !ok && !reflect.DeepEqual(m, nothing) {
		return schema.AnyType
	}
	for _, v := range values {
		set |= schema.TypeOf(scan.JSON(v))
	}
	return set
}

// types compares types. It returns false if the types have nothing in common, because further comparison is then
// useless.
func (c *comparison) types(x node) bool {
	a, b := typesOf(x.old), typesOf(x.now)
	_, listed := enumOf(x.old)
	_, lists := enumOf(x.now)
	at := x.at("type")
	switch {
	case a == b, (listed || lists) && (x.old["type"] == nil || x.now["type"] == nil) && a&b != 0: // comparing the values gives more detail
	case a&^b == 0:
		c.differ("type-widened", x.dir, at, "it was %s, and may now be %s", a, b)
	case b&^a == 0:
		c.differ("type-narrowed", x.dir, at, "it could be %s, and must now be %s", a, b)
	default:
		c.differ("type-changed", x.dir, at, "it was %s, and is now %s", a, b)
	}
	return a&b != 0
}

// enumOf returns the values that a schema lists in enum or const, or as a choice of constants.
func enumOf(m map[string]any) ([]any, bool) {
	if v, ok := m["const"]; ok {
		return []any{v}, true
	}
	if v, ok := m["enum"].([]any); ok {
		return v, true
	}
	var values []any
	for _, keyword := range []string{"anyOf", "oneOf"} {
		forms := list(m, keyword)
		for _, form := range forms {
			one, is := enumOf(asObject(form))
			if !is {
				return nil, false
			}
			values = append(values, one...)
		}
		if len(forms) > 0 {
			return values, true
		}
	}
	return nil, false
}

func (c *comparison) enums(x node) {
	a, before := enumOf(x.old)
	b, after := enumOf(x.now)
	at := x.at("enum")
	if x.old["const"] != nil && x.now["const"] != nil {
		at = x.at("const")
	}
	switch {
	case !before && !after:
	case !before:
		c.differ("enum-added", x.dir, at, "it must be one of %s", brief(b))
	case !after:
		c.differ("enum-removed", x.dir, at, "it no longer has to be one of %s", brief(a))
	default:
		for _, v := range b {
			if !contains(a, v) {
				c.differ("enum-value-added", x.dir, at, "the value %s was added", brief(v))
			}
		}
		for _, v := range a {
			if !contains(b, v) {
				c.differ("enum-value-removed", x.dir, at, "the value %s was removed", brief(v))
			}
		}
	}
}

// texts compares pattern, format, multipleOf and uniqueItems.
func (c *comparison) texts(x node) {
	c.keyword(x, "pattern", "pattern", "the pattern")
	c.keyword(x, "format", "format", "the format")
	c.keyword(x, "multipleOf", "multiple", "the factor")
	c.turns(x.dir, x.at("uniqueItems"), x.old["uniqueItems"] == true, x.now["uniqueItems"] == true,
		change{"unique-added", "its elements must differ"}, change{"unique-removed", "its elements no longer have to differ"})
}

// conditions compares keywords for which it is unknown whether a change widens or narrows the schema.
func (c *comparison) conditions(x node) {
	for _, keyword := range union(x.old, x.now) {
		a, b := x.old[keyword], x.now[keyword]
		if !slices.Contains(conditions, keyword) || reflect.DeepEqual(a, b) {
			continue
		}
		switch at := x.at(keyword); {
		case a == nil:
			c.differ("condition-added", x.dir, at, "the condition %q is new", keyword)
		case b == nil:
			c.differ("condition-removed", x.dir, at, "the condition %q was removed", keyword)
		default:
			c.differ("condition-changed", x.dir, at, "the condition %q has changed", keyword)
		}
	}
}

var conditions = []string{
	"not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "contains", "minContains", "maxContains",
	"propertyNames", "patternProperties", "unevaluatedProperties", "unevaluatedItems", "contentEncoding", "contentMediaType", "contentSchema",
	"$dynamicRef", "$recursiveRef", "$ref",
}

package versions

import (
	"reflect"
	"slices"
	"strconv"

	"rpcx/wire/catalog"
	"rpcx/wire/schema"
)

func (c *comparison) object(x node) {
	if (typesOf(x.old)|typesOf(x.now))&schema.Object == 0 {
		return
	}
	o, n := member(x.old, "properties"), member(x.now, "properties")
	renamed := c.renamedProperties(x, o, n)
	for _, name := range union(o, n) {
		a, before := o[name]
		b, after := n[name]
		at := x.at("properties", name)
		switch needed := required(x.now, name); {
		case renamed[name]:
		case !before:
			c.appears(x, at, "property-added", "the property "+name, needed, x.old["additionalProperties"])
		case !after:
			c.differ("property-removed", x.dir, at, "the property %s was removed", name)
		default:
			c.requirement(x, name, at)
			c.schema(a, b, at, x.dir)
		}
	}
	c.unnamedRequired(x, o, n)
	c.others(x, "additionalProperties", x.old["additionalProperties"], x.now["additionalProperties"])
}

// appears reports a property or an element that only the new schema describes. others is the old schema for properties or elements
// without a schema of their own.
func (c *comparison) appears(x node, at place, kind, what string, needed bool, others any) {
	switch {
	case needed:
		c.differ("property-added-required", x.dir, at, "%s is new and required", what)
	case others == false:
		c.differ("property-unforeseen", x.dir, at, "%s is new, although no additional ones were allowed", what)
	default:
		c.differ(kind, x.dir, at, "%s is new", what)
	}
}

func (c *comparison) requirement(x node, name string, at place) {
	c.turns(x.dir, at, required(x.old, name), required(x.now, name),
		change{"property-required", "the property %s is now required"}, change{"property-optional", "the property %s is now optional"}, name)
}

// unnamedRequired compares the names of required properties that have no schema.
func (c *comparison) unnamedRequired(x node, o, n map[string]any) {
	for _, v := range slices.Concat(list(x.old, "required"), list(x.now, "required")) {
		if name, _ := v.(string); o[name] == nil && n[name] == nil {
			c.requirement(x, name, x.at("required"))
		}
	}
}

// renamedProperties finds removed properties for which a new property has the same schema, and a similar name unless it
// is the only new one. It returns the old and the new names.
func (c *comparison) renamedProperties(x node, o, n map[string]any) map[string]bool {
	removed, added := only(o, n), only(n, o)
	alone := len(removed) == 1 && len(added) == 1 && required(x.old, removed[0]) == required(x.now, added[0]) && !isAnything(asObject(o[removed[0]]))
	same := func(old, now string) bool {
		return (alone || catalog.Nearest(old, []string{now}) != "") && reflect.DeepEqual(o[old], n[now])
	}
	return renames(removed, added, same, func(old, now string) {
		at := place{x.at("properties", old).old, x.at("properties", now).now}
		c.differ("property-renamed", x.dir, at, "the property %s is now %s", old, now)
	})
}

// only returns the names in a that b does not have.
func only(a, b map[string]any) []string {
	return slices.DeleteFunc(union(a, nil), func(name string) bool { _, ok := b[name]; return ok })
}

func required(m map[string]any, name string) bool { return contains(list(m, "required"), name) }

// others compares the schemas for all properties or elements that have no schema of their own.
func (c *comparison) others(x node, keyword string, o, n any) {
	at := x.at(keyword)
	switch {
	case o == false && n == false:
	case o == false:
		c.differ("extra-allowed", x.dir, at, "undeclared properties or elements are now allowed")
	case n == false:
		c.differ("extra-forbidden", x.dir, at, "undeclared properties or elements are no longer allowed")
	default:
		c.schema(o, n, at, x.dir)
	}
}

// array compares elements: first those at positions that have their own schema, then all others.
func (c *comparison) array(x node) {
	if (typesOf(x.old)|typesOf(x.now))&schema.Array == 0 {
		return
	}
	a, restA, keyA := elements(x.old)
	b, restB, keyB := elements(x.now)
	for i := range max(len(a), len(b)) {
		index := strconv.Itoa(i)
		at := place{x.at(keyA, index).old, x.at(keyB, index).now}
		switch {
		case i >= len(a): // it is required if the minimum length of the array includes it
			least := limit{keyword: "minItems", lower: true}.of(x.now).value
			c.appears(x, at, "element-added", "element "+index, least != nil && least.Cmp(rational(index)) > 0, restA)
		case i >= len(b):
			c.differ("element-removed", x.dir, at, "element %d was removed", i)
		default:
			c.schema(a[i], b[i], at, x.dir)
		}
	}
	keyword := "items"
	if len(a) > 0 && keyA == "items" {
		keyword = "additionalItems"
	}
	c.others(x, keyword, restA, restB)
}

// elements returns the schemas for single positions, the schema for all other elements, and the keyword for the single
// positions: prefixItems, or items in drafts before 2020-12.
func elements(m map[string]any) (places []any, others any, keyword string) {
	if prefix := list(m, "prefixItems"); prefix != nil {
		return prefix, m["items"], "prefixItems"
	}
	if old, ok := m["items"].([]any); ok {
		return old, m["additionalItems"], "items"
	}
	return nil, m["items"], "prefixItems"
}

package versions

import (
	"maps"
	"reflect"
)

// classes compares classes by name.
func (c *comparison) classes(o, n []any, p place) {
	c.inPairs(byName(o, n), p, "class", "class", func(name string) { c.method = name }, c.oneClass)
}

func (c *comparison) oneClass(o, n map[string]any, p place) {
	c.annotations(o, n, p)
	c.schema(o["params"], n["params"], p.at("params"), input)
	for _, what := range []string{"constructor", "base", "extends"} {
		if !reflect.DeepEqual(o[what], n[what]) {
			c.add("class-changed", p.at(what), "its %s was %s and is now %s", what, brief(o[what]), brief(n[what]))
		}
	}
	c.members("property", list(o, "properties"), list(n, "properties"), p.at("properties"))
	c.members("method", list(o, "methods"), list(n, "methods"), p.at("methods"))
}

// members compares the properties or methods of a class.
func (c *comparison) members(what string, o, n []any, p place) {
	both := func(o, n map[string]any, at place) { c.member(what, o, n, at) }
	c.inPairs(c.renamedMember(what, byName(o, n), p), p, "member", what, func(string) {}, both)
}

// If exactly one member was removed and one was added, and they differ only in name, renamedMember reports the member
// as renamed. It returns the remaining pairs.
func (c *comparison) renamedMember(what string, pairs []pair, p place) []pair {
	var removed, added, both []pair
	for _, x := range pairs {
		switch {
		case x.now == nil:
			removed = append(removed, x)
		case x.old == nil:
			added = append(added, x)
		default:
			both = append(both, x)
		}
	}
	if len(removed) != 1 || len(added) != 1 {
		return pairs
	}
	old, now := maps.Clone(removed[0].old), maps.Clone(added[0].now)
	delete(old, "name")
	delete(now, "name")
	if len(old) == 0 || !reflect.DeepEqual(old, now) {
		return pairs
	}
	c.add("member-renamed", place{removed[0].place(p).old, added[0].place(p).now}, "the %s %s is now %s", what, removed[0].name, added[0].name)
	return both
}

func (c *comparison) member(what string, o, n map[string]any, p place) {
	if a, b := o["settable"] == true, n["settable"] == true; a && !b {
		c.add("member-read-only", p.at("settable"), "the %s %s can no longer be set", what, text(n, "name"))
	} else if b && !a {
		c.add("member-writable", p.at("settable"), "the %s %s can now be set", what, text(n, "name"))
	}
	c.annotations(o, n, p)
	c.schema(o["params"], n["params"], p.at("params"), input)
	c.schema(o["result"], n["result"], p.at("result"), output)
	c.schema(o["schema"], n["schema"], p.at("schema"), output)
}

package versions

import (
	"maps"
	"reflect"
)

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
	c.lists("member", what, o, n, p, isRenamedMember, func(o, n map[string]any, at place) { c.member(what, o, n, at) })
}

// isRenamedMember reports whether the only new member of a class differs from the only removed one just in its name.
func isRenamedMember(o, n pair, alone bool) bool {
	if !alone { // a comparison of each pair takes quadratic time
		return false
	}
	old, now := maps.Clone(o.old), maps.Clone(n.now)
	delete(old, "name")
	delete(now, "name")
	return len(old) > 0 && reflect.DeepEqual(old, now)
}

func (c *comparison) member(what string, o, n map[string]any, p place) {
	c.turns(input, p.at("settable"), o["settable"] == true, n["settable"] == true,
		change{"member-writable", "the %s %s can now be set"}, change{"member-read-only", "the %s %s can no longer be set"}, what, text(n, "name"))
	c.annotations(o, n, p)
	c.schema(o["params"], n["params"], p.at("params"), input)
	c.schema(o["result"], n["result"], p.at("result"), output)
	c.schema(o["schema"], n["schema"], p.at("schema"), output)
}

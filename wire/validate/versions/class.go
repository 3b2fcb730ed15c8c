package versions

import "reflect"

// classes compares classes by name.
func (c *comparison) classes(o, n []any, p place) {
	c.inPairs(byName(o, n), p, "class", "class", func(name string) { c.method = name }, c.oneClass)
}

func (c *comparison) oneClass(o, n map[string]any, p place) {
	c.annotations(o, n, p)
	c.schema(o["params"], n["params"], p.at("params"), input)
	for _, what := range []string{"constructor", "base", "extends"} {
		if !reflect.DeepEqual(o[what], n[what]) {
			c.add("class-changed", p.at(what), "its %s was %s and is %s", what, brief(o[what]), brief(n[what]))
		}
	}
	c.members("property", list(o, "properties"), list(n, "properties"), p.at("properties"))
	c.members("method", list(o, "methods"), list(n, "methods"), p.at("methods"))
}

// members compares the properties or the methods of a class.
func (c *comparison) members(what string, o, n []any, p place) {
	both := func(o, n map[string]any, at place) { c.member(what, o, n, at) }
	c.inPairs(byName(o, n), p, "member", what, func(string) {}, both)
}

func (c *comparison) member(what string, o, n map[string]any, p place) {
	if a, b := o["settable"] == true, n["settable"] == true; a && !b {
		c.add("member-read-only", p.at("settable"), "the %s %s can no longer be set", what, text(n, "name"))
	} else if b && !a {
		c.add("member-writable", p.at("settable"), "the %s %s can be set now", what, text(n, "name"))
	}
	c.annotations(o, n, p)
	c.schema(o["params"], n["params"], p.at("params"), input)
	c.schema(o["result"], n["result"], p.at("result"), output)
	c.schema(o["schema"], n["schema"], p.at("schema"), output)
}

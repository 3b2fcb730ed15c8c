package versions

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// A visit is a pair of schemas that is compared in one direction.
type visit struct {
	place
	dir direction
}

// Limits for the number of compared pairs and of followed references. Without them, a peer could keep rpcx busy
// forever.
const (
	maxVisits = 100_000
	maxRefs   = 64
)

// A node is a schema from each catalog, after references have been followed.
type node struct {
	visit
	old, now map[string]any
}

// schema compares two schemas. nil is a schema that allows anything.
func (c *comparison) schema(o, n any, p place, dir direction) {
	o, p.old = follow(c.old, o, p.old)
	n, p.now = follow(c.now, n, p.now)
	v := visit{p, dir}
	if c.seen[v] || len(c.seen) > maxVisits {
		return
	}
	c.seen[v] = true
	a, b := asObject(o), asObject(n)
	x := node{v, a, b}
	c.annotations(a, b, p)
	c.keyword(x, "default", "default", "the default")
	switch {
	case isAnything(a) && isAnything(b):
	case isAnything(a):
		c.differ("schema-added", dir, p, "it could be any value, and must now be %s", sketch(b))
	case isAnything(b):
		c.differ("schema-removed", dir, p, "it was %s, and may now be any value", sketch(a))
	default:
		c.node(x)
	}
}

// node compares the keywords that restrict values.
func (c *comparison) node(x node) {
	if c.unions(x) || !c.types(x) {
		return
	}
	c.enums(x)
	c.limits(x)
	c.texts(x)
	c.object(x)
	c.array(x)
	c.conditions(x)
}

// annotations compares the keywords that do not restrict values.
func (c *comparison) annotations(o, n map[string]any, p place) {
	for _, name := range []string{"title", "description", "$comment", "examples", "example"} {
		if a, b := o[name], n[name]; !reflect.DeepEqual(a, b) {
			c.add("description-changed", p.at(name), "the %s was %s and is now %s", name, brief(a), brief(b))
		}
	}
	c.turns(input, p.at("deprecated"), o["deprecated"] == true, n["deprecated"] == true,
		change{"deprecated", "it is deprecated"}, change{"no-longer-deprecated", "it is no longer deprecated"})
}

// keyword compares a keyword whose change neither widens nor narrows a schema. what describes its value.
func (c *comparison) keyword(x node, keyword, stem, what string) {
	a, before := x.old[keyword]
	b, after := x.now[keyword]
	switch at := x.at(keyword); {
	case before == after && reflect.DeepEqual(a, b):
	case !before:
		c.differ(stem+"-added", x.dir, at, "%s is %s, and was unspecified before", what, brief(b))
	case !after:
		c.differ(stem+"-removed", x.dir, at, "%s was %s, and is now unspecified", what, brief(a))
	default:
		c.differ(stem+"-changed", x.dir, at, "%s was %s and is now %s", what, brief(a), brief(b))
	}
}

// follow follows $refs within the document. If there are other keywords beside a $ref, it adds them to a copy of the
// target, where they take precedence.
func follow(doc map[string]any, v any, pointer string) (any, string) {
	for range maxRefs {
		m, ok := v.(map[string]any)
		ref, isRef := m["$ref"].(string)
		if !ok || !isRef || !strings.HasPrefix(ref, "#") {
			return v, pointer
		}
		path, err := url.PathUnescape(ref[1:])
		target, found := scan.Lookup(doc, path)
		if err != nil || !found {
			return v, pointer
		}
		beside := maps.Clone(m)
		delete(beside, "$ref")
		v = target
		if t, isMap := target.(map[string]any); isMap && len(beside) > 0 {
			merged := maps.Clone(t)
			maps.Copy(merged, beside)
			v = merged
		}
		pointer = path
	}
	return v, pointer
}

// nothing is a schema that rejects every value.
var nothing = map[string]any{"not": map[string]any{}}

// asObject returns a schema as an object, even if it is true or false.
func asObject(v any) map[string]any {
	if v == false {
		return nothing
	}
	m, _ := v.(map[string]any)
	return m
}

// remarks are keywords that do not restrict values.
var remarks = []string{
	"title", "description", "$comment", "examples", "example", "default", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "id",
	"$defs", "definitions", "$anchor",
}

// isAnything reports whether the schema accepts every value.
func isAnything(m map[string]any) bool {
	for name := range m {
		if !slices.Contains(remarks, name) && !strings.HasPrefix(name, "x-") {
			return false
		}
	}
	return true
}

// sketch describes the values that a schema allows in a few words.
func sketch(m map[string]any) string {
	switch t := typesOf(m); t {
	case schema.AnyType:
		return "a value that matches its schema"
	case 0:
		return "omitted"
	default:
		return t.String()
	}
}

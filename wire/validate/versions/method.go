package versions

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"rpcx/wire/catalog"
)

// oneMethod compares the two versions of a method.
func (c *comparison) oneMethod(o, n map[string]any, p place) {
	if a, b := kindOf(o), kindOf(n); a != b {
		c.add("kind-changed", p.at("kind"), "it was a %s and is a %s", a, b)
	}
	c.annotations(o, n, p)
	c.effects(list(o, "effects"), list(n, "effects"), p.at("effects"))
	c.hints(member(o, "hints"), member(n, "hints"), p.at("hints"))
	c.hints(promised(o), promised(n), p.at("extra", catalog.Annotations))
	before, after := seconds(member(o, "cache")["max-age"]), seconds(member(n, "cache")["max-age"])
	switch at := p.at("cache", "max-age"); {
	case before < after:
		c.add("cache-longer", at, "its result may be cached for %v s instead of %v s", after, before)
	case before > after:
		c.add("cache-shorter", at, "its result may be cached for %v s instead of %v s", after, before)
	}
	c.schema(o["params"], n["params"], p.at("params"), input)
	c.schema(o["result"], n["result"], p.at("result"), output)
	c.byMember(member(o, "events"), member(n, "events"), p.at("events"), "event", func(_ string, a, b any, at place) { c.schema(a, b, at, output) })
	c.errors(member(o, "extra"), member(n, "extra"), p.at("extra", "errors"))
	if a, b := o["stream"], n["stream"]; !reflect.DeepEqual(a, b) {
		c.add("stream-changed", p.at("stream"), "the stream's items were %s and are %s", brief(a), brief(b))
	}
	c.extra(o, n, p, "errors")
}

func kindOf(m map[string]any) string { return cmp.Or(text(m, "kind"), string(catalog.Call)) }

// effects compares the effects of a method, except for reading.
func (c *comparison) effects(o, n []any, p place) {
	for i, e := range n {
		if !contains(o, e) && e != "read" {
			c.add("effect-added", p.at(strconv.Itoa(i)), "it has the new effect %s", brief(e))
		}
	}
	for i, e := range o {
		if !contains(n, e) && e != "read" {
			c.add("effect-removed", p.at(strconv.Itoa(i)), "it no longer has the effect %s", brief(e))
		}
	}
}

// promises are the hints on which callers rely if they are true.
var promises = append([]string{"idempotent", "idempotentHint"}, catalog.ReadOnlyHints...)

// promised returns the promises among the annotations of a method.
func promised(m map[string]any) map[string]any {
	all := maps.Clone(member(member(m, "extra"), catalog.Annotations))
	maps.DeleteFunc(all, func(name string, _ any) bool { return !slices.Contains(promises, name) })
	return all
}

func (c *comparison) hints(o, n map[string]any, p place) {
	for _, name := range union(o, n) {
		a, b, at := o[name], n[name], p.at(name)
		switch promise := slices.Contains(promises, name); {
		case reflect.DeepEqual(a, b):
		case promise && a == true:
			c.add("hint-lost", at, "the hint %s is no longer true", name)
		case promise && b == true:
			c.add("hint-gained", at, "the hint %s is now true", name)
		case !promise || a != nil && b != nil:
			c.add("hint-changed", at, "the hint %s was %s and is now %s", name, brief(a), brief(b))
		}
	}
}

func seconds(v any) float64 {
	n, _ := v.(json.Number)
	f, _ := n.Float64()
	return f
}

// errors compares a method's OpenRPC errors by code.
func (c *comparison) errors(o, n map[string]any, p place) {
	before, after := list(o, "errors"), list(n, "errors")
	for i, e := range after {
		code := codeOf(e)
		if at := indexOfCode(before, code); at < 0 {
			c.add("error-added", p.at(strconv.Itoa(i)), "it may fail with the code %s, which is new", brief(code))
		} else if a, b := text(asObject(before[at]), "message"), text(asObject(e), "message"); a != b {
			c.add("description-changed", place{p.at(strconv.Itoa(at)).old, p.at(strconv.Itoa(i)).now}, "the error %s was %s and is now %s", brief(code), quote(a), quote(b))
		}
	}
	for i, e := range before {
		if code := codeOf(e); indexOfCode(after, code) < 0 {
			c.add("error-removed", p.at(strconv.Itoa(i)), "it no longer lists the error code %s", brief(code))
		}
	}
}

func codeOf(e any) any { return asObject(e)["code"] }

func indexOfCode(all []any, code any) int {
	return slices.IndexFunc(all, func(e any) bool { return reflect.DeepEqual(codeOf(e), code) })
}

func contains(all []any, v any) bool {
	return slices.ContainsFunc(all, func(e any) bool { return reflect.DeepEqual(e, v) })
}

package versions

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

func escape(token string) string { return scan.Escape(token) }

func (c *comparison) catalogs() {
	root := place{}
	if o, n := text(c.old, "dialect"), text(c.now, "dialect"); o != n && o != "" && n != "" {
		c.add("dialect-changed", root.at("dialect"), "the dialect was %s and is now %s", o, n)
	}
	c.info(member(c.old, "info"), member(c.now, "info"), root.at("info"))
	c.methods(list(c.old, "methods"), list(c.now, "methods"), root.at("methods"))
	c.method = ""
	c.classes(list(c.old, "classes"), list(c.now, "classes"), root.at("classes"))
	c.method = ""
	c.constants(member(c.old, "constants"), member(c.now, "constants"), root.at("constants"))
	c.extra(c.old, c.now, root)
}

func (c *comparison) info(o, n map[string]any, p place) {
	for _, what := range []string{"name", "version", "description"} {
		if a, b := text(o, what), text(n, what); a != b {
			c.add(what+"-changed", p.at(what), "the peer's %s was %s and is now %s", what, quote(a), quote(b))
		}
	}
}

// extra compares the members that only the dialect interprets. skip names members that are compared elsewhere.
func (c *comparison) extra(o, n map[string]any, p place, skip ...string) {
	a, b := member(o, "extra"), member(n, "extra")
	for _, name := range union(a, b) {
		if !slices.Contains(skip, name) && !reflect.DeepEqual(a[name], b[name]) {
			c.add("extra-changed", p.at("extra", name), "%s was %s and is now %s", name, brief(a[name]), brief(b[name]))
		}
	}
}

func (c *comparison) constants(o, n map[string]any, p place) {
	c.byMember(o, n, p, "constant", func(name string, a, b any, at place) {
		if !reflect.DeepEqual(a, b) {
			c.add("constant-changed", at, "the constant %s was %s and is now %s", name, brief(a), brief(b))
		}
	})
}

func (c *comparison) methods(o, n []any, p place) {
	pairs := byName(o, n)
	renamed := c.renamedMethods(pairs, p)
	pairs = slices.DeleteFunc(pairs, func(pair pair) bool { return renamed[pair.name] })
	c.inPairs(pairs, p, "method", "method", func(name string) { c.method = name }, c.oneMethod)
}

// inPairs compares complete pairs, and reports the others as added or removed. stem is the first part of the kinds of
// difference, and begin is called with each name.
func (c *comparison) inPairs(pairs []pair, p place, stem, what string, begin func(name string), both func(o, n map[string]any, p place)) {
	for _, pair := range pairs {
		at := pair.place(p)
		begin(pair.name)
		switch {
		case pair.old == nil:
			c.add(stem+"-added", at, "the %s %s is new", what, pair.name)
		case pair.now == nil:
			c.add(stem+"-removed", at, "the %s %s was removed", what, pair.name)
		default:
			both(pair.old, pair.now, at)
		}
	}
}

// byMember calls inPairs for the members of two objects.
func (c *comparison) byMember(o, n map[string]any, p place, stem string, both func(name string, a, b any, at place)) {
	for _, name := range union(o, n) {
		a, before := o[name]
		b, after := n[name]
		switch at := p.at(name); {
		case !before:
			c.add(stem+"-added", at, "the %s %s is new", stem, name)
		case !after:
			c.add(stem+"-removed", at, "the %s %s was removed", stem, name)
		default:
			both(name, a, b, at)
		}
	}
}

// renamedMethods finds removed methods for which a new method has a similar name and the same schemas. It returns the
// old and the new names.
func (c *comparison) renamedMethods(pairs []pair, p place) map[string]bool {
	done := map[string]bool{}
	for _, removed := range pairs {
		if removed.now != nil {
			continue
		}
		for _, added := range pairs {
			if added.old != nil || done[added.name] || catalog.Nearest(removed.name, []string{added.name}) == "" || !sameSignature(removed.old, added.now) {
				continue
			}
			c.method = removed.name
			at := place{removed.place(p).old, added.place(p).now}
			c.add("method-renamed", at, "the method %s is now %s", removed.name, added.name)
			done[removed.name], done[added.name] = true, true
			break
		}
	}
	return done
}

func sameSignature(a, b map[string]any) bool {
	for _, what := range []string{"kind", "params", "result", "events"} {
		if !reflect.DeepEqual(a[what], b[what]) {
			return false
		}
	}
	return true
}

// A pair contains the entries with the same name from two lists. An entry is nil if its list does not have the name.
type pair struct {
	name     string
	old, now map[string]any
	from, to int // indexes in the lists
}

func (p pair) place(of place) place {
	return place{of.old + "/" + strconv.Itoa(p.from), of.now + "/" + strconv.Itoa(p.to)}
}

// byName pairs the elements of two lists by name: first all in the order of the new list, then those that only the old
// list has.
func byName(o, n []any) []pair {
	before := map[string]int{}
	for i, e := range o {
		m, _ := e.(map[string]any)
		before[text(m, "name")] = i
	}
	var pairs []pair
	for i, e := range n {
		m, _ := e.(map[string]any)
		p := pair{name: text(m, "name"), now: m, to: i}
		if from, ok := before[p.name]; ok {
			p.from = from
			p.old, _ = o[from].(map[string]any)
			delete(before, p.name)
		}
		pairs = append(pairs, p)
	}
	for _, from := range slices.Sorted(maps.Values(before)) {
		m, _ := o[from].(map[string]any)
		pairs = append(pairs, pair{name: text(m, "name"), old: m, from: from})
	}
	return pairs
}

func member(m map[string]any, name string) map[string]any {
	v, _ := m[name].(map[string]any)
	return v
}

func list(m map[string]any, name string) []any {
	v, _ := m[name].([]any)
	return v
}

func text(m map[string]any, name string) string {
	v, _ := m[name].(string)
	return v
}

// union returns the names in both objects, sorted.
func union(a, b map[string]any) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// brief returns a value as short text.
func brief(v any) string {
	if v == nil {
		return "nothing"
	}
	b, err := scan.Marshal(v)
	const most = 80
	switch {
	case err != nil:
		return "a value"
	case len(b) > most:
		return strings.ToValidUTF8(string(b[:most]), "") + "…"
	}
	return string(b)
}

func quote(s string) string {
	if s == "" {
		return "nothing"
	}
	return brief(s)
}

package versions

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

func (c *comparison) catalogs() {
	root := place{}
	if o, n := text(c.old, "dialect"), text(c.now, "dialect"); o != n && o != "" && n != "" {
		c.add("dialect-changed", root.at("dialect"), "the dialect was %s and is now %s", o, n)
	}
	for _, what := range []string{"name", "version", "description"} {
		if o, n := text(member(c.old, "info"), what), text(member(c.now, "info"), what); o != n {
			c.add(what+"-changed", root.at("info", what), "the peer's %s was %s and is now %s", what, quote(o), quote(n))
		}
	}
	c.lists("method", "method", list(c.old, "methods"), list(c.now, "methods"), root.at("methods"), isRenamedMethod, c.oneMethod)
	c.lists("class", "class", list(c.old, "classes"), list(c.now, "classes"), root.at("classes"), nil, c.oneClass)
	c.method = ""
	c.constants(member(c.old, "constants"), member(c.now, "constants"), root.at("constants"))
	c.extra(c.old, c.now, root)
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

// lists compares two lists of named entries, with both for the entries that are in both lists. It reports the others as
// renamed (if isRenamed is true for them), added or removed. alone is true if only one was removed and one added. stem is
// the first part of the kinds of difference.
func (c *comparison) lists(stem, what string, o, n []any, p place, isRenamed func(o, n pair, alone bool) bool, both func(o, n map[string]any, p place)) {
	pairs, named := byName(o, n), map[string]pair{}
	var removed, added []string
	for _, pair := range pairs {
		named[pair.name] = pair
		switch {
		case pair.now == nil:
			removed = append(removed, pair.name)
		case pair.old == nil:
			added = append(added, pair.name)
		}
	}
	begin := func(name string) {
		if stem != "member" { // the members of a class are differences of the class
			c.method = name
		}
	}
	same := func(o, n string) bool {
		return isRenamed != nil && isRenamed(named[o], named[n], len(removed) == 1 && len(added) == 1)
	}
	renamed := renames(removed, added, same, func(o, n string) {
		begin(o)
		c.add(stem+"-renamed", place{named[o].place(p).old, named[n].place(p).now}, "the %s %s is now %s", what, o, n)
	})
	for _, pair := range pairs {
		at := pair.place(p)
		begin(pair.name)
		switch {
		case renamed[pair.name]:
		case pair.old == nil:
			c.add(stem+"-added", at, "the %s %s is new", what, pair.name)
		case pair.now == nil:
			c.add(stem+"-removed", at, "the %s %s was removed", what, pair.name)
		default:
			both(pair.old, pair.now, at)
		}
	}
}

// renames pairs removed names with the added names that replace them, for which same is true, and calls report for each
// pair. It returns all names in pairs.
func renames(removed, added []string, same func(o, n string) bool, report func(o, n string)) map[string]bool {
	done := map[string]bool{}
	for _, o := range removed {
		i := slices.IndexFunc(added, func(n string) bool { return !done[n] && same(o, n) })
		if i >= 0 {
			report(o, added[i])
			done[o], done[added[i]] = true, true
		}
	}
	return done
}

// byMember is like lists, but for the members of two objects.
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

// isRenamedMethod reports whether a new method has a similar name and the same schemas as a removed one.
func isRenamedMethod(o, n pair, _ bool) bool {
	return catalog.Nearest(o.name, []string{n.name}) != "" && !slices.ContainsFunc([]string{"kind", "params", "result", "events"}, func(what string) bool {
		return !reflect.DeepEqual(o.old[what], n.now[what])
	})
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
		before[text(asObject(e), "name")] = i
	}
	var pairs []pair
	for i, e := range n {
		p := pair{name: text(asObject(e), "name"), now: asObject(e), to: i}
		if from, ok := before[p.name]; ok {
			p.from, p.old = from, asObject(o[from])
			delete(before, p.name)
		}
		pairs = append(pairs, p)
	}
	for _, from := range slices.Sorted(maps.Values(before)) {
		pairs = append(pairs, pair{name: text(asObject(o[from]), "name"), old: asObject(o[from]), from: from})
	}
	return pairs
}

func member(m map[string]any, name string) map[string]any { return get[map[string]any](m, name) }
func list(m map[string]any, name string) []any            { return get[[]any](m, name) }
func text(m map[string]any, name string) string           { return get[string](m, name) }

// get returns the member of that name, or a zero value if it is missing or has another type.
func get[T any](m map[string]any, name string) T {
	v, _ := m[name].(T)
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
	if err != nil {
		return "a value"
	}
	return wire.Excerpt(b, 80)
}

func quote(s string) string {
	if s == "" {
		return "nothing"
	}
	return brief(s)
}

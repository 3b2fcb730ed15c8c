// Package versions compares what a peer offers with what it offered before, and
// says of each difference whether programs written for the old one break.
//
// What breaks depends on the direction of a value. A peer that takes more than it
// did breaks nobody; one that takes less does. A result is the other way round:
// one that may hold more than it did surprises its readers, one that holds less
// does not. So most differences between schemas are either wider or narrower, and
// the direction decides.
//
//	versions.go   Compare, Difference
//	kinds.go      the table of all kinds of difference
//	compare.go    catalogs: methods, constants
//	method.go, class.go   one method, one class
//	schema.go, object.go, types.go, limits.go, branches.go   schemas
package versions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"rpcx/wire/catalog"
)

// A Class says what a difference means for programs written for the old catalog.
type Class string

// The classes, the worst first.
const (
	Breaking      Class = "breaking"
	Compatible    Class = "compatible"
	Documentation Class = "documentation"
)

// A Difference is one thing in which two catalogs differ.
type Difference struct {
	Class   Class
	Kind    string // the Name of one of Kinds
	Method  string // the method or class that it belongs to; "": none, or several
	Pointer string // where: a JSON pointer into the new catalog, or into the old one where In says so
	In      string // "new" or "old": what is gone has its place in the old catalog alone
	Message string // what differs, on one line
}

// Compare returns all in which now differs from before, the breaking ones first,
// then in the order of their places. Definitions are compared where they are
// used; one that is used in several places is told once for each direction.
func Compare(before, now *catalog.Catalog) ([]Difference, error) {
	a, err := decoded(before)
	if err != nil {
		return nil, fmt.Errorf("the old catalog: %w", err)
	}
	b, err := decoded(now)
	if err != nil {
		return nil, fmt.Errorf("the new catalog: %w", err)
	}
	c := &comparison{old: a, now: b, seen: map[visit]bool{}, told: map[Difference]bool{}}
	c.catalogs()
	slices.SortStableFunc(c.found, func(x, y Difference) int {
		return cmp.Compare(slices.Index(classes, x.Class), slices.Index(classes, y.Class))
	})
	return c.found, nil
}

var classes = []Class{Breaking, Compatible, Documentation}

// decoded returns a catalog as maps and lists, whose numbers keep their digits.
func decoded(c *catalog.Catalog) (map[string]any, error) {
	raw, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	doc := map[string]any{}
	return doc, d.Decode(&doc)
}

// A comparison is the state of one Compare.
type comparison struct {
	old, now map[string]any
	method   string
	found    []Difference
	told     map[Difference]bool // without their methods: a definition has many users
	seen     map[visit]bool      // pairs of schemas that were compared, so that circles end
}

// A place is a part of both catalogs: where it is in each.
type place struct{ old, now string }

// at returns the place of a member or element of p.
func (p place) at(tokens ...string) place {
	for _, t := range tokens {
		t = "/" + escape(t)
		p.old, p.now = p.old+t, p.now+t
	}
	return p
}

// add notes a difference of a kind whose class does not depend on a direction.
func (c *comparison) add(kind string, p place, format string, args ...any) {
	c.note(kind, kinds[kind].class, p, format, args...)
}

// note notes a difference. What is gone is told by its place in the old catalog.
func (c *comparison) note(kind string, class Class, p place, format string, args ...any) {
	d := Difference{Kind: kind, Class: class, Pointer: p.now, In: "new", Message: fmt.Sprintf(format, args...)}
	if kinds[kind].gone {
		d.Pointer, d.In = p.old, "old"
	}
	if c.told[d] {
		return
	}
	c.told[d] = true
	d.Method = c.method
	c.found = append(c.found, d)
}

// A direction is the way in which the values of a schema go.
type direction int

const (
	input  direction = iota // from the caller to the peer: params
	output                  // from the peer to the caller: results, events
)

// differ notes a difference of a kind whose class depends on the direction.
func (c *comparison) differ(kind string, dir direction, p place, format string, args ...any) {
	class := kinds[kind].params
	if dir == output {
		class = kinds[kind].result
	}
	c.note(kind, class, p, format, args...)
}

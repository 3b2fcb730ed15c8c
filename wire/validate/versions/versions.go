// Package versions compares the catalog of a peer with an older one, and says
// for each difference whether programs written for the old one break.
//
// That depends on the direction in which a value goes. A peer that accepts more
// than before breaks nobody; one that accepts less does. With results it is the
// other way round: one that may hold more than before surprises its readers,
// one that holds less does not. So most differences between schemas either
// widen or narrow, and the direction decides.
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

// A Class says what a difference means for programs written for the old
// catalog.
type Class string

// The classes, the worst first.
const (
	Breaking      Class = "breaking"
	Compatible    Class = "compatible"
	Documentation Class = "documentation"
)

// A Difference is one difference between two catalogs.
type Difference struct {
	Class   Class
	Kind    string // a Kind's Name
	Method  string // the method or class that differs; "": none, or several
	Pointer string // a JSON pointer into the catalog that In names
	In      string // "new", or "old" for what is gone
	Message string // what differs, in words, on one line
}

// Compare returns all differences of now from before: the breaking ones first,
// then in the order of their places. Definitions are compared where they are
// used; a difference in one that is used in several places is reported once for
// each direction. The error is that a catalog cannot be written as JSON.
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

// decoded returns a catalog as maps and slices, with numbers that keep their
// digits.
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

// A comparison is the state of one call of Compare.
type comparison struct {
	old, now map[string]any
	method   string
	found    []Difference
	told     map[Difference]bool // reported differences, without their methods, as many may use a definition
	seen     map[visit]bool      // pairs of schemas that were compared, so that circular references end
}

// A place is a part of both catalogs, as a JSON pointer into each.
type place struct{ old, now string }

// at returns the place of a member or element of what is at p.
func (p place) at(tokens ...string) place {
	for _, t := range tokens {
		t = "/" + escape(t)
		p.old, p.now = p.old+t, p.now+t
	}
	return p
}

// add reports a difference whose class is the same in both directions.
func (c *comparison) add(kind string, p place, format string, args ...any) {
	c.note(kind, kinds[kind].class, p, format, args...)
}

// note reports a difference. One in what is gone is reported with its place in
// the old catalog.
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

// A direction is the way that the values of a schema go.
type direction int

const (
	input  direction = iota // from the caller to the peer: params
	output                  // from the peer to the caller: results, events
)

// differ reports a difference whose class depends on the direction.
func (c *comparison) differ(kind string, dir direction, p place, format string, args ...any) {
	class := kinds[kind].params
	if dir == output {
		class = kinds[kind].result
	}
	c.note(kind, class, p, format, args...)
}

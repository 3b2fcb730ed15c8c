// Package versions compares the catalog of a peer with an older one, and determines for each difference whether it
// breaks programs written for the old one.
//
// That depends on the direction of a value. If a peer accepts more than before, no program breaks. If it accepts less,
// some do. With results it is the reverse: a wider result surprises its readers, a narrower one does not. So most
// differences between schemas either widen or narrow, and the direction decides.
//
//	versions.go   Compare
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
	"rpcx/wire/validate"
)

// A Class is the effect of a difference on programs written for the old catalog. It is the level of a problem.
type Class = validate.Level

// The classes, the worst first.
const (
	Breaking      Class = "breaking"
	Compatible    Class = "compatible"
	Documentation Class = "documentation"
)

// Compare returns all differences of now from before: first the breaking ones, then the others in the order of their
// places. Definitions are compared where they are used. A difference in one that is used in several places is reported
// once for each direction. The error is that a catalog cannot be written as JSON.
func Compare(before, now *catalog.Catalog) ([]validate.Problem, error) {
	a, err := decoded(before)
	if err != nil {
		return nil, fmt.Errorf("the old catalog: %w", err)
	}
	b, err := decoded(now)
	if err != nil {
		return nil, fmt.Errorf("the new catalog: %w", err)
	}
	c := &comparison{old: a, now: b, seen: map[visit]bool{}, reported: map[reported]bool{}}
	c.catalogs()
	c.positions(before, now)
	slices.SortStableFunc(c.found, func(x, y validate.Problem) int {
		return cmp.Compare(slices.Index(Classes, x.Level), slices.Index(Classes, y.Level))
	})
	return c.found, nil
}

// Classes are the levels of differences, the worst first.
var Classes = []Class{Breaking, Compatible, Documentation}

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
	found    []validate.Problem
	reported map[reported]bool
	seen     map[visit]bool // pairs of schemas that were compared, so that circular references end
}

// A place is a part of both catalogs, as a JSON pointer into each.
type place struct{ old, now string }

// at returns the place of a member or element of the value at p.
func (p place) at(tokens ...string) place {
	for _, t := range tokens {
		t = "/" + escape(t)
		p.old, p.now = p.old+t, p.now+t
	}
	return p
}

// add reports a difference whose class is the same in both directions.
func (c *comparison) add(kind string, p place, format string, args ...any) {
	c.note(kind, kinds[kind].Class, p, format, args...)
}

// reported is a difference, without its method, as many may use a
// definition.
type reported struct{ kind, pointer, message string }

// note reports a difference. A difference in a removed part is reported with its place in the old catalog.
func (c *comparison) note(kind string, class Class, p place, format string, args ...any) {
	d := validate.Problem{Rule: kind, Level: class, Method: c.method, Pointer: validate.Place(p.now), Message: fmt.Sprintf(format, args...)}
	if kinds[kind].gone {
		d.Pointer, d.In = validate.Place(p.old), "old"
	}
	once := reported{kind + string(class), string(d.Pointer), d.Message}
	if !c.reported[once] {
		c.reported[once] = true
		c.found = append(c.found, d)
	}
}

// A direction is the way that the values of a schema go.
type direction int

const (
	input  direction = iota // from the caller to the peer: params
	output                  // from the peer to the caller: results, events
)

// differ reports a difference whose class depends on the direction.
func (c *comparison) differ(kind string, dir direction, p place, format string, args ...any) {
	class := kinds[kind].Params
	if dir == output {
		class = kinds[kind].Result
	}
	c.note(kind, class, p, format, args...)
}

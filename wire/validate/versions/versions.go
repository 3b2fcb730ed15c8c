// Package versions compares a peer's catalog with an older one, and determines which differences can break programs
// that were written for the older catalog.
//
// The effect of a difference depends on the direction of the values. A peer that accepts more params than before breaks
// no program; a peer that accepts fewer can break some. Results are the opposite: a program may not expect a wider
// result. Most differences therefore widen or narrow a schema, and the direction determines their class.
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
	"rpcx/wire/scan"
	"rpcx/wire/validate"
)

// A Class is the effect of a difference on programs that were written for the old catalog. It is stored as the level of
// a problem.
type Class = validate.Level

const (
	Breaking      Class = "breaking"
	Compatible    Class = "compatible"
	Documentation Class = "documentation"
)

// Compare returns all differences between before and now: first the breaking ones, then the others by place. It
// compares shared definitions at each place that uses them. A difference in a shared definition is reported only once
// for each direction. Compare fails if a catalog cannot be written as JSON.
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

// Classes lists the classes, worst first.
var Classes = []Class{Breaking, Compatible, Documentation}

// decoded returns a catalog as maps and slices. Numbers keep their digits.
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
	seen     map[visit]bool // pairs of schemas that have been compared; this ends circular references
}

// A place is a part of both catalogs: a JSON pointer into each.
type place struct{ old, now string }

// at returns the place of a member or element of the value at p.
func (p place) at(tokens ...string) place {
	for _, t := range tokens {
		t = "/" + scan.Escape(t)
		p.old, p.now = p.old+t, p.now+t
	}
	return p
}

// reported identifies a difference without its method, because many methods may use the same definition.
type reported struct{ kind, pointer, message string }

// add reports a difference that has the same class in both directions.
func (c *comparison) add(kind string, p place, format string, args ...any) {
	c.differ(kind, input, p, format, args...)
}

// differ reports a difference whose class may depend on the direction. The place of a removed part is in the old catalog.
func (c *comparison) differ(kind string, dir direction, p place, format string, args ...any) {
	class := cmp.Or(kinds[kind].Class, kinds[kind].Params)
	if dir == output {
		class = cmp.Or(kinds[kind].Class, kinds[kind].Result)
	}
	d := validate.Problem{Rule: kind, Level: class, Method: c.method, Pointer: validate.Place(p.now), Message: fmt.Sprintf(format, args...)}
	if kinds[kind].onlyOld {
		d.Pointer, d.In = validate.Place(p.old), "old"
	}
	once := reported{kind + string(class), string(d.Pointer), d.Message}
	if !c.reported[once] {
		c.reported[once] = true
		c.found = append(c.found, d)
	}
}

// A direction is the direction in which the values of a schema are sent.
type direction int

const (
	input  direction = iota // from the caller to the peer: params
	output                  // from the peer to the caller: results, events
)

// A change is a kind of difference, with a sentence about it.
type change struct{ kind, says string }

// turns adds a difference if a fact has become true, or no longer is. args belong to the sentences.
func (c *comparison) turns(dir direction, p place, before, after bool, begins, ends change, args ...any) {
	switch {
	case after && !before:
		c.differ(begins.kind, dir, p, begins.says, args...)
	case before && !after:
		c.differ(ends.kind, dir, p, ends.says, args...)
	}
}

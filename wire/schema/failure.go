package schema

import (
	"cmp"
	"slices"

	"rpcx/wire"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A failure is the violation of one keyword by one value.
type failure struct {
	schema *jsonschema.Schema
	value  *value
	rule   string   // the keyword, or "" if only causes are wrong
	names  []string // the members that violate the keyword, or the member that requires others as the last
	at     [2]int   // the elements or alternatives that violate the keyword, or their number
	want   []any    // allowed values from several schemas, or nil for the values of schema
	causes
}

// causes are the first failures below a failure: enough to explain it.
type causes struct {
	all    []*failure
	weight int // the number of failures in the result, or maxCauses if some were dropped
}

func (c *causes) add(f *failure) {
	if weight := c.weight + f.weight + 1; c.all == nil || weight < maxCauses {
		c.all, c.weight = append(c.all, f), weight
	} else {
		c.weight = max(c.weight, maxCauses)
	}
}

// alternatives returns the schemas of anyOf or oneOf.
func (f *failure) alternatives() []*jsonschema.Schema {
	if f.rule == "anyOf" {
		return f.schema.AnyOf
	}
	return f.schema.OneOf
}

// isChoice reports whether no alternative of anyOf or oneOf matches.
func (f *failure) isChoice() bool { return f.rule == "anyOf" || f.rule == "oneOf" && f.at[1] == 0 }

// depth returns the depth of the failure's value in the whole value.
func (f *failure) depth() (n int) {
	for v := f.value; v.parent != nil; v = v.parent {
		n++
	}
	return n
}

// deepest returns the greatest depth of the failure and its causes.
func (f *failure) deepest() int {
	depth := f.depth()
	for _, c := range f.all {
		depth = max(depth, c.deepest())
	}
	return depth
}

// passesOn reports whether the failure only refers to its causes.
func (f *failure) passesOn() bool {
	return len(f.all) > 0 && slices.Contains([]string{"", "allOf", "$ref", "$recursiveRef", "$dynamicRef"}, f.rule)
}

// useful returns the most useful failure in a tree.
func (f *failure) useful() *failure {
	switch {
	case f.passesOn():
		return slices.MinFunc(wire.Map(f.all, (*failure).useful), byUse)
	case f.isChoice():
		return f.usefulBranch()
	}
	return f
}

// byUse puts the failure that the user should correct first at the start. An unknown name is often the cause of a
// missing one.
func byUse(a, b *failure) int {
	return cmp.Or(cmp.Compare(a.urgency(), b.urgency()), slices.Compare(a.value.path(), b.value.path()), cmp.Compare(a.rule, b.rule))
}

func (f *failure) urgency() int {
	switch f.rule {
	case "additionalProperties", "unevaluatedProperties", "false":
		return 0
	case "required":
		return 2
	}
	return 1
}

// usefulBranch chooses the alternative of anyOf or oneOf that was most likely intended: first an alternative with matching
// constants, then the alternative that fails at the greatest depth. If all fail at the top, it returns f itself, which lists the
// alternatives.
func (f *failure) usefulBranch() *failure {
	var best *failure
	bestDepth, bestConstants := 0, false
	for _, c := range f.all {
		leaf := c.useful()
		depth, constants := leaf.depth(), c.constantBelow(f.depth()) != nil
		if best == nil || bestConstants && !constants || constants == bestConstants && depth > bestDepth {
			best, bestDepth, bestConstants = leaf, depth, constants
		}
	}
	if one := f.anyConstant(); bestConstants && one != nil {
		return one
	}
	if best == nil || len(f.all) > 1 && bestDepth == f.depth() && best.urgency() == 1 {
		return f
	}
	return best
}

// anyConstant returns one failure for the member whose constants distinguish the alternatives, if none of them matches.
// It returns nil if there is no such member.
func (f *failure) anyConstant() *failure {
	one := &failure{schema: f.schema, rule: "enum"}
	for _, c := range f.all {
		leaf := c.constantBelow(f.depth())
		if leaf == nil || one.value != nil && !slices.Equal(leaf.value.path(), one.value.path()) {
			return nil
		}
		one.value, one.want = leaf.value, append(one.want, leaf.wanted()...)
	}
	return one
}

// constantBelow returns the failure of a const or enum one level below depth, or nil.
func (f *failure) constantBelow(depth int) *failure {
	if f.rule == "const" || f.rule == "enum" {
		if f.depth() == depth+1 {
			return f
		}
		return nil
	}
	for _, c := range f.all {
		if leaf := c.constantBelow(depth); leaf != nil {
			return leaf
		}
	}
	return nil
}

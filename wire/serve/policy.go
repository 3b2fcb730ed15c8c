package serve

import (
	"slices"
	"strings"

	"rpcx/wire/dialect"
)

// allows reports whether the policy allows calls of name.
func (o Options) allows(name string) bool {
	return !some(o.Deny, name) && (len(o.Allow) == 0 || some(o.Allow, name))
}

// Allows reports whether the policy lets name be called.
func (r *responder) Allows(name string) bool { return r.b.o.allows(name) }

// allowsClass reports whether the catalog shows a class. It does not if all members of the class are denied.
func (o Options) allowsClass(name string) bool {
	member := name + ".\x00" // under any name
	return !some(o.Deny, member) && (len(o.Allow) == 0 || slices.ContainsFunc(o.Allow, func(p string) bool {
		return strings.HasPrefix(p, name+".") || dialect.Matches(p, member)
	}))
}

// Unmatched returns those patterns of a policy that match none of the names.
func Unmatched(patterns, names []string) []string {
	return slices.DeleteFunc(slices.Clone(patterns), func(p string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return dialect.Matches(p, name) })
	})
}

// some reports whether any of the patterns matches name.
func some(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return dialect.Matches(p, name) })
}

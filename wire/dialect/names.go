package dialect

import (
	"cmp"
	"encoding/json"

	"rpcx/wire"
)

// Names describes the names of a dialect's methods. A nil function leaves names unchanged.
type Names struct {
	Check func(method string, subscribe bool) error // rejects invalid method names with a usage Fault
	Wire  func(typed string) string                 // the wire name of a user's method
	// New returns the method and the params that create an object of a class. It is nil without classes.
	New      func(class string, params json.RawMessage) (method string, all json.RawMessage)
	Spelling *Spelling // how users and hooks spell wire names, or nil
}

// A Spelling is how users and hooks spell a dialect's methods, if they do not use wire names.
type Spelling struct {
	User   func(typed, method string) string // returns the user's name of a wire method; typed is what the user entered
	Hook   func(method string) string        // the name or pattern of a wire method for hooks and policies
	Wire   func(hookName string) string      // the inverse of Hook
	Covers func(pattern string) []string     // the additional patterns that a policy's pattern from Hook implies
}

// wireNames is the Spelling of dialects whose users and hooks use wire names.
var wireNames = Spelling{
	User:   func(_, method string) string { return method },
	Hook:   func(method string) string { return method },
	Wire:   func(hookName string) string { return hookName },
	Covers: func(string) []string { return nil },
}

func (n Names) spelling() *Spelling { return cmp.Or(n.Spelling, &wireNames) }

// ForHooks returns the name of a wire method for hooks and policies.
func (n Names) ForHooks(method string) string {
	return n.spelling().Hook(method)
}

// AllForHooks applies ForHooks to each pattern.
func (n Names) AllForHooks(patterns []string) []string {
	return wire.Map(patterns, n.ForHooks)
}

// ForPolicy applies ForHooks to each policy pattern, and adds the patterns that these imply.
func (n Names) ForPolicy(patterns []string) []string {
	out := n.AllForHooks(patterns)
	for _, p := range patterns {
		out = append(out, n.spelling().Covers(n.ForHooks(p))...)
	}
	return out
}

// FromHook returns the wire name of a hook's method.
func (n Names) FromHook(hookName string) string {
	return n.spelling().Wire(hookName)
}

// ForUser returns the name of a wire method that users see. typed is what the user entered.
func (n Names) ForUser(typed, method string) string {
	return n.spelling().User(typed, method)
}

// OnWire returns the wire name of a user's method.
func (n Names) OnWire(typed string) string {
	if n.Wire == nil {
		return typed
	}
	return n.Wire(typed)
}

// Misspelt is the cause of a usage Fault from Check if Check knows the intended method.
type Misspelt struct{ Method string }

// Error reports the correct name.
func (m *Misspelt) Error() string { return "the right spelling is " + m.Method }

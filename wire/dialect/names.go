package dialect

import "encoding/json"

// Names describes the names of a dialect's methods. If a function is nil, names stay unchanged.
type Names struct {
	Check func(method string, subscribe bool) error // rejects invalid method names with a usage Fault
	Wire  func(typed string) string                 // the wire name of a method that a user typed
	// New returns the method and the params that make an object of a class. It is nil if there are no classes.
	New      func(class string, params json.RawMessage) (method string, all json.RawMessage)
	Spelling *Spelling // how users and hooks spell wire names; nil if they use the wire names
}

// A Spelling determines how users and hooks spell the methods of a dialect, if they do not use the wire names.
type Spelling struct {
	User   func(typed, method string) string // a wire method, in the spelling of a user who entered typed
	Hook   func(method string) string        // the name of a wire method for hooks and policies; accepts patterns
	Wire   func(hookName string) string      // the inverse of Hook
	Covers func(pattern string) []string     // the additional patterns that a policy pattern, as returned by Hook, implies
}

// ForHooks returns the name of a wire method for hooks and policies.
func (n Names) ForHooks(method string) string {
	if n.Spelling == nil {
		return method
	}
	return n.Spelling.Hook(method)
}

// AllForHooks applies ForHooks to each pattern.
func (n Names) AllForHooks(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = n.ForHooks(p)
	}
	return out
}

// ForPolicy applies ForHooks to each policy pattern and adds the patterns that it covers.
func (n Names) ForPolicy(patterns []string) []string {
	out := n.AllForHooks(patterns)
	if n.Spelling == nil {
		return out
	}
	for _, p := range patterns {
		out = append(out, n.Spelling.Covers(n.ForHooks(p))...)
	}
	return out
}

// FromHook returns the wire name of a method from its name for hooks.
func (n Names) FromHook(hookName string) string {
	if n.Spelling == nil {
		return hookName
	}
	return n.Spelling.Wire(hookName)
}

// ForUser returns a wire method in the spelling of a user who entered typed.
func (n Names) ForUser(typed, method string) string {
	if n.Spelling == nil {
		return method
	}
	return n.Spelling.User(typed, method)
}

// OnWire returns the wire name of a method that a user entered.
func (n Names) OnWire(typed string) string {
	if n.Wire == nil {
		return typed
	}
	return n.Wire(typed)
}

// Misspelt is the cause of a usage Fault from Check if the intended method is known.
type Misspelt struct{ Method string }

// Error returns a sentence with the right spelling.
func (m *Misspelt) Error() string { return "the right spelling is " + m.Method }

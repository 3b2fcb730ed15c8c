package dialect

import "encoding/json"

// Names describes the names of a dialect's methods. A nil function keeps the name unchanged.
type Names struct {
	Check func(method string, subscribe bool) error // refuses what cannot be a method, with a usage Fault
	Wire  func(typed string) string                 // the name on the wire of what a user typed
	// New returns the method and the params that make an object of a class, or nil if there are no classes.
	New      func(class string, params json.RawMessage) (method string, all json.RawMessage)
	Spelling *Spelling // how users and hooks spell the methods of the wire; nil means as the wire does
}

// A Spelling is how users and hooks spell the methods of a dialect in which they do not use the names of the wire.
type Spelling struct {
	User   func(typed, method string) string // a method of the wire, spelt as a user would who typed typed
	Hook   func(method string) string        // what hooks and policies call a method of the wire; takes patterns
	Wire   func(hookName string) string      // the inverse of Hook
	Covers func(pattern string) []string     // the further patterns that a policy's pattern, as Hook returns it, implies
}

// ForHooks returns the name by which hooks and policies call a method of the wire.
func (n Names) ForHooks(method string) string {
	if n.Spelling == nil {
		return method
	}
	return n.Spelling.Hook(method)
}

// AllForHooks applies ForHooks to each of patterns.
func (n Names) AllForHooks(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = n.ForHooks(p)
	}
	return out
}

// ForPolicy applies ForHooks to each pattern of a policy and adds the patterns that
// it covers.
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

// FromHook returns the name on the wire of a method, as hooks call it.
func (n Names) FromHook(hookName string) string {
	if n.Spelling == nil {
		return hookName
	}
	return n.Spelling.Wire(hookName)
}

// ForUser returns a method of the wire, spelt as a user would who typed typed.
func (n Names) ForUser(typed, method string) string {
	if n.Spelling == nil {
		return method
	}
	return n.Spelling.User(typed, method)
}

// OnWire returns the name on the wire of what a user typed as a method.
func (n Names) OnWire(typed string) string {
	if n.Wire == nil {
		return typed
	}
	return n.Wire(typed)
}

// Misspelt is the cause of a usage Fault of Check if it is known which method was meant.
type Misspelt struct{ Method string }

// Error names the better spelling.
func (m *Misspelt) Error() string { return "it is spelt " + m.Method }

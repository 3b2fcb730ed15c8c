package testkit

// Unrestricted implements the policy of a dialect.Responder for tests: it allows every method and has no hooks.
type Unrestricted struct{}

// Allows returns true.
func (Unrestricted) Allows(string) bool { return true }

// Denied returns false.
func (Unrestricted) Denied(string) bool { return false }

// ByPattern returns false.
func (Unrestricted) ByPattern(string) bool { return false }

// HandshakeDone does nothing.
func (Unrestricted) HandshakeDone([]string) {}

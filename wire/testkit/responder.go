package testkit

// Unrestricted is the part of a dialect.Responder that says what its policy and its hooks are: it
// allows every method and has no hooks. Tests embed it.
type Unrestricted struct{}

// Allows returns true.
func (Unrestricted) Allows(string) bool { return true }

// Denied returns false.
func (Unrestricted) Denied(string) bool { return false }

// ByPattern returns false.
func (Unrestricted) ByPattern(string) bool { return false }

// HandshakeDone does nothing.
func (Unrestricted) HandshakeDone([]string) {}

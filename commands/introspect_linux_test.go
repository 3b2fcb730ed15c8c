package commands

import "testing"

// The list of modules is output for people, too.
func TestTerminalGoneForModules(t *testing.T) {
	toGoneTerminal(t, "introspect", "introspect", "describe", "ENDPOINT")
}

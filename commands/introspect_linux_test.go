package commands

import "testing"

// Printing the list of modules to a closed terminal is a failure.
func TestTerminalClosesBeforeModules(t *testing.T) {
	toGoneTerminal(t, "introspect", "introspect", "describe", "ENDPOINT")
}

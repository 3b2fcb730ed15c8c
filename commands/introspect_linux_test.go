package commands

import "testing"

// Printing the list of modules to a closed terminal is a failure.
func TestTerminalClosesBeforeModules(t *testing.T) {
	onClosedTerminal(t, "introspect", "introspect", "describe", "ENDPOINT")
}

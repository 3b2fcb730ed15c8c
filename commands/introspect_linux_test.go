package commands

import "testing"

// The list of modules is output, also on a terminal.
func TestTerminalClosesBeforeModules(t *testing.T) {
	toGoneTerminal(t, "introspect", "introspect", "describe", "ENDPOINT")
}

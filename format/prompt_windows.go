package format

import (
	"os"
	"syscall"
)

// terminalSignals are those of other systems: none ever comes here.
var terminalSignals = []os.Signal{syscall.SIGQUIT}

// handleSignal has nothing to do.
func (p *Prompt) handleSignal(os.Signal) {}

// stopGroup does nothing: there are no stopped processes here.
func stopGroup() {}

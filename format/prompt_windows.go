package format

import (
	"os"
	"syscall"
)

// terminalSignals are those of other systems, which never arrive here.
var terminalSignals = []os.Signal{syscall.SIGQUIT}

// handleSignal has nothing to do.
func (p *Prompt) handleSignal(os.Signal) {}

// stopGroup does nothing: this system has no stopped processes.
func stopGroup() {}

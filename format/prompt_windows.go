package format

import (
	"os"
	"syscall"
)

// terminalSignals contains a signal that Windows never sends.
var terminalSignals = []os.Signal{syscall.SIGQUIT}

// handleSignal does nothing.
func (p *Prompt) handleSignal(os.Signal) {}

// stopGroup does nothing, because Windows cannot stop processes.
func stopGroup() {}

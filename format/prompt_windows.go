package format

import (
	"os"
	"syscall"
)

// terminalSignals are signals of other systems, which never arrive here.
var terminalSignals = []os.Signal{syscall.SIGQUIT}

// handleSignal does nothing.
func (p *Prompt) handleSignal(os.Signal) {}

// stopGroup does nothing, because this system cannot stop processes.
func stopGroup() {}

package format

import (
	"os"
	"syscall"
)

// terminalSignals are those of other systems: none ever comes here.
var terminalSignals = []os.Signal{syscall.SIGQUIT}

// told has nothing to do.
func (p *Prompt) told(os.Signal) {}

// stopGroup does nothing: there are no stopped processes here.
func stopGroup() {}

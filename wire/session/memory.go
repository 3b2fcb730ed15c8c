package session

import (
	"runtime/debug"
	"sync"
)

// These constants limit the memory for responses that clients have not read.
const (
	heldBytes      = 256 << 20         // the total for all clients; each client may exceed it by a small amount
	muchHeld       = 32 << 20          // above this total, memory is returned to the system when a client disconnects
	collectFrom    = 8 << 20           // above this total, garbage is collected more often
	collectPercent = 10                // the GOGC percentage while garbage is collected more often
	collectBytes   = heldBytes / 4 * 3 // the memory limit (GOMEMLIMIT), above which garbage is collected continuously
)

var frequentGC struct {
	mu    sync.Mutex
	often int // how many servers need more frequent collection
	usual int // the percentage at other times
}

// setFrequentGC begins or ends frequent garbage collection for one server. When the last server no longer needs it, the
// usual percentage is restored.
func setFrequentGC(begin bool) {
	frequentGC.mu.Lock()
	defer frequentGC.mu.Unlock()
	switch {
	case begin && frequentGC.often == 0:
		if frequentGC.usual = debug.SetGCPercent(collectPercent); frequentGC.usual < collectPercent {
			debug.SetGCPercent(frequentGC.usual) // keep the lower percentage that the user has set
		}
	case !begin && frequentGC.often == 1:
		debug.SetGCPercent(frequentGC.usual)
	}
	if begin {
		frequentGC.often++
	} else {
		frequentGC.often--
	}
}

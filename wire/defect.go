package wire

import "runtime/debug"

// Defect is told that a goroutine of ours has panicked, with what and where, and ends the
// program. The program sets it before it starts any; nil: the panic goes on, as a trace.
var Defect func(what any, stack []byte)

// Guard is deferred by goroutines that read what others said: what makes them panic is a
// defect of ours, of which the user is told in one line.
func Guard() {
	if Defect == nil {
		return
	}
	if v := recover(); v != nil {
		Defect(v, debug.Stack())
	}
}

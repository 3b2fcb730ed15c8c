package wire

import (
	"runtime/debug"
	"sync/atomic"
)

// defect is told that a goroutine of ours has panicked.
var defect atomic.Pointer[func(what any, stack []byte)]

// OnDefect sets what is told that a goroutine of ours has panicked, with what and where, and
// ends the program; nil: the panic goes on, as a trace.
func OnDefect(f func(what any, stack []byte)) {
	if f == nil {
		defect.Store(nil)
		return
	}
	defect.Store(&f)
}

// Guard is deferred by goroutines that read what others said: what makes them panic is a
// defect of ours, of which the user is told in one line.
func Guard() {
	f := defect.Load()
	if f == nil {
		return
	}
	if v := recover(); v != nil {
		(*f)(v, debug.Stack())
	}
}

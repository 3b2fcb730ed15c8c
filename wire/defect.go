package wire

import (
	"runtime/debug"
	"sync/atomic"
)

var defect atomic.Pointer[func(what any, stack []byte)]

// OnDefect sets the function that handles a panic. f receives the value of the panic and the stack, and ends the program.
// With nil, the default, a panic ends the program with Go's trace.
func OnDefect(f func(what any, stack []byte)) {
	if f == nil {
		defect.Store(nil)
		return
	}
	defect.Store(&f)
}

// Guard passes a panic, which is a defect in rpcx, to the function that OnDefect set. Goroutines that process input from
// other programs defer Guard.
func Guard() {
	f := defect.Load()
	if f == nil {
		return
	}
	if v := recover(); v != nil {
		(*f)(v, debug.Stack())
	}
}

package wire

import (
	"runtime/debug"
	"sync/atomic"
)

// defect is the function that OnDefect has set.
var defect atomic.Pointer[func(what any, stack []byte)]

// OnDefect sets the function that is called when a goroutine has panicked. It gets the value of the panic and the stack, and
// ends the program. With nil, the default, a panic ends the program with Go's own trace.
func OnDefect(f func(what any, stack []byte)) {
	if f == nil {
		defect.Store(nil)
		return
	}
	defect.Store(&f)
}

// Guard is deferred by goroutines that process input of other programs. A panic there is a defect of rpcx, which is reported
// in one line.
func Guard() {
	f := defect.Load()
	if f == nil {
		return
	}
	if v := recover(); v != nil {
		(*f)(v, debug.Stack())
	}
}

package wire

import (
	"runtime/debug"
	"sync/atomic"
)

// defect is the function set by OnDefect.
var defect atomic.Pointer[func(what any, stack []byte)]

// OnDefect sets the function that is called when a goroutine panics. The function receives the value of the panic and the
// stack, and ends the program. If f is nil, the default, a panic ends the program with Go's own trace.
func OnDefect(f func(what any, stack []byte)) {
	if f == nil {
		defect.Store(nil)
		return
	}
	defect.Store(&f)
}

// Guard is deferred by goroutines that process input from other programs. A panic in such a goroutine is a defect of rpcx,
// which is reported in one line.
func Guard() {
	f := defect.Load()
	if f == nil {
		return
	}
	if v := recover(); v != nil {
		(*f)(v, debug.Stack())
	}
}

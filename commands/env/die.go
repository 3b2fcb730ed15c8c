package env

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/wire"
)

// dieLimit bounds the time until a signal to ourselves arrives, which on a busy machine may be a while. One that was ignored
// when the process started never does.
const dieLimit = 250 * time.Millisecond

// DieOf ends the process by the signal that caused f, so that its parent, a shell's
// loop for one, sees a signal and not only a status. It returns if f was not caused
// by a signal, or if the process survives it: as process 1 of a container, or if
// the signal was ignored when it started.
func DieOf(f *wire.Fault) {
	s, ok := deadly(f.Kind)
	if !ok {
		return
	}
	signal.Reset(s)
	if os.Getpid() == 1 || signal.Ignored(s) {
		return
	}
	if s == syscall.SIGPIPE {
		// The runtime takes this signal to itself where it is sent, and dies of it only
		// where a write to stdout fails. That failed once, and cannot but fail again.
		if brokenStdout(f.Err) {
			_, _ = os.Stdout.WriteString("\n")
		}
		return
	}
	if signalSelf(s) {
		time.Sleep(dieLimit)
	}
}

// deadly returns the signal that ends a process with the status of kind.
func deadly(kind wire.FaultKind) (syscall.Signal, bool) {
	switch kind {
	case wire.Interrupted:
		return syscall.SIGINT, true
	case wire.Terminated:
		return syscall.SIGTERM, true
	case wire.HungUp:
		return syscall.SIGHUP, true
	case wire.PipeClosed:
		return syscall.SIGPIPE, true
	}
	return 0, false
}

// OwnFault returns the Fault for a panic. what is its value, and stack, which
// is shown with -v, its place.
func (run *Env) OwnFault(what any, stack []byte) *wire.Fault {
	if run.Common.Verbose {
		_, _ = os.Stderr.Write(stack)
	}
	return wire.NewFault(wire.Internal, fmt.Sprintf("a defect of rpcx: %v", what), nil)
}

// Defect ends the program after a goroutine has panicked, in the way in which a
// panic of the main goroutine ends it, but without any cleaning up.
func (run *Env) Defect(what any, stack []byte) {
	f := run.OwnFault(what, stack)
	st := cmdline.StatusOf(f.Kind)
	run.Out.Restore()
	if run.Console != nil {
		run.Console.Clear()
		run.Console.Error(f, st.Code)
	}
	os.Exit(st.Code)
}

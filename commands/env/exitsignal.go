package env

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/syserr"
)

// selfSignalTimeout bounds the wait for a signal that rpcx sent to itself, which may take a while on a busy machine. A
// signal that was ignored when the process started never arrives.
const selfSignalTimeout = 250 * time.Millisecond

// ExitBySignal ends the process by the signal that caused f, so that its parent, such as the
// loop of a shell, sees that a signal ended it and not only a status. It returns if f was not
// caused by a signal, or if the signal does not end the process: it is process 1 of a container,
// or the signal was ignored when it started.
func ExitBySignal(f *wire.Fault) {
	s, ok := signalOf(f.Kind)
	if !ok {
		return
	}
	signal.Reset(s)
	if os.Getpid() == 1 || signal.Ignored(s) {
		return
	}
	if s == syscall.SIGPIPE {
		// Go's runtime ignores a SIGPIPE that was sent, and ends by it only when a write to
		// stdout fails. Such a write has failed once already, so another one fails, too.
		if brokenStdout(f.Err) {
			_, _ = os.Stdout.WriteString("\n")
		}
		return
	}
	if signalSelf(s) {
		time.Sleep(selfSignalTimeout)
	}
}

// signalOf returns the signal that ends a process with the status of kind.
func signalOf(kind wire.FaultKind) (syscall.Signal, bool) {
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

// A stdout that was closed (>&-) cannot be told from one that leads to /dev/null: before
// any of our code runs, Go's runtime opens /dev/null for reading and writing in its place,
// just as others do who start a program whose output they do not want (subprocess.DEVNULL
// of Python, "ignore" of Node). An error here would make all of these fail, so the output is lost silently.

// brokenStdout reports whether err says that stdout is a pipe without a reader.
func brokenStdout(err error) bool {
	var path *fs.PathError
	return syserr.BrokenPipe(err) && errors.As(err, &path) && path.Path == os.Stdout.Name()
}

// OwnFault returns the Fault for a panic of our own code, whose value is what. With -v it
// prints the stack.
func (run *Env) OwnFault(what any, stack []byte) *wire.Fault {
	if run.Common.Verbose && run.Console != nil {
		run.Console.Pass(stack)
	}
	return wire.NewFault(wire.Internal, fmt.Sprintf("a defect of rpcx: %v", what), nil)
}

// Defect ends the program after a goroutine has panicked, with the same message and status as
// after a panic of the main goroutine, but without cleaning up.
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

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

// selfSignalTimeout bounds the wait for a signal from this process to itself. On a busy machine, the signal may take a
// while. If it was ignored at the start, it never arrives.
const selfSignalTimeout = 250 * time.Millisecond

// ExitBySignal ends the process by the signal that caused f, because its parent, such as a shell loop, distinguishes a
// signal from a status. It returns if no signal caused f. It also returns if the signal does not end the process, which
// is then process 1 of a container, or was started with the signal ignored.
func ExitBySignal(f *wire.Fault) {
	s, ok := signals[f.Kind]
	if !ok {
		return
	}
	signal.Reset(s)
	if os.Getpid() == 1 || signal.Ignored(s) {
		return
	}
	if s == syscall.SIGPIPE {
		// Go's runtime ignores a SIGPIPE from kill. A Go program ends by SIGPIPE only when a write to stdout fails.
		// Such a write has failed, and another one will fail again.
		if brokenStdout(f.Err) {
			_, _ = os.Stdout.WriteString("\n")
		}
		return
	}
	if signalSelf(s) {
		time.Sleep(selfSignalTimeout)
	}
}

// signals maps the kinds of failures that a signal causes to the signal.
var signals = map[wire.FaultKind]syscall.Signal{
	wire.Interrupted: syscall.SIGINT, wire.Terminated: syscall.SIGTERM, wire.HungUp: syscall.SIGHUP, wire.PipeClosed: syscall.SIGPIPE,
}

// brokenStdout reports whether err is the error of writing to a stdout that has no reader.
//
// A closed stdout (>&-) loses its output without an error, because Go's runtime opens /dev/null in its place before
// main. Programs that discard the output do the same (subprocess.DEVNULL of Python, "ignore" of Node). rpcx cannot
// distinguish the cases, and an error would break such programs.
func brokenStdout(err error) bool {
	path, ok := errors.AsType[*fs.PathError](err)
	return ok && syserr.BrokenPipe(err) && path.Path == os.Stdout.Name()
}

// OwnFault returns the Fault for a panic of rpcx with the value what. With -v, it prints the stack.
func (run *Env) OwnFault(what any, stack []byte) *wire.Fault {
	if run.Common.Verbose && run.Console != nil {
		run.Console.Pass(stack)
	}
	return wire.NewFault(wire.Internal, fmt.Sprintf("a defect of rpcx: %v", what), nil)
}

// Defect ends the program after a panic in a goroutine, with the message and the status of a panic in the main
// goroutine, but without cleaning up.
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

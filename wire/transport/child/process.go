package child

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// A Process is a child in a process group of its own. If this process is killed, Linux kills the child (but not its
// group), and Windows kills the whole group. The caller must call End, even after the child has exited.
type Process struct {
	cmd   *exec.Cmd
	group group
	done  chan struct{} // closed after cmd.Wait
	gone  bool          // valid after done: whether the group was empty
	err   error         // valid after done: the error of cmd.Wait
}

// Start starts cmd. It sets cmd.SysProcAttr so that the child gets a group of its own. It waits for the child in the
// background, so the caller must not call cmd.Wait. If a writer of cmd is not an *os.File, cmd.WaitDelay must be set.
// Otherwise a grandchild that keeps stdout open would delay Done.
//
// Errors are of type *wire.Fault, with kind NotFound, NotExecutable or Unreachable.
func Start(cmd *exec.Cmd) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	processGroup(cmd.SysProcAttr)
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, startFault(cmd, err)
	}
	return p, nil
}

// run starts the child and waits for it on one thread, because Linux sends the death signal to the child when the
// thread that started it ends.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	p.group = groupOf(p.cmd.Process)
	started <- nil
	p.err = p.cmd.Wait()
	// The system does not reuse the group's id while the group contains a process. Recording that the group is empty
	// prevents a signal to a later process with the same id.
	p.gone = !p.group.lives()
	close(p.done)
}

// Done returns a channel that is closed when the child has exited and cmd's writers have received its output.
// Descendants of the child may still be running.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for Done and returns the result of cmd.Wait.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Pid returns the process id of the child, which is also the id of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Status returns the child's exit status. If a signal has ended the child, it returns -1 and the name of the signal.
// Before Done, it returns -1 and "".
func (p *Process) Status() (exit int, signal string) {
	if !wire.IsClosed(p.done) || p.cmd.ProcessState == nil {
		return -1, ""
	}
	ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return -1, signalName(ws.Signal())
	}
	return p.cmd.ProcessState.ExitCode(), ""
}

// empty reports whether the group was empty when the child exited.
func (p *Process) empty() bool { return wire.IsClosed(p.done) && p.gone }

// LeftBehind reports whether the child has exited but its group still contains other processes.
func (p *Process) LeftBehind() bool {
	return wire.IsClosed(p.done) && !p.gone && p.group.lives() && !groupIsDead(p.Pid())
}

// HurriedGrace is how long a child may take to exit when Close has no more time (Config.Hurry).
const HurriedGrace = 150 * time.Millisecond

// End asks the whole group to exit (with SIGTERM, or on Windows with Ctrl-Break), and kills it after grace (with
// SIGKILL). It returns when the group is empty, or at most a second after the kill. If the child has already exited,
// End does the same for the remaining processes.
func (p *Process) End(grace time.Duration) { p.EndWithin(context.Background(), grace) }

// EndWithin is like End, but the grace also ends HurriedGrace after hurry has ended. hurry may be nil.
func (p *Process) EndWithin(hurry context.Context, grace time.Duration) {
	if !p.empty() {
		p.group.ask()
	}
	ctx, cancel := transport.Within(hurry, grace, HurriedGrace)
	defer cancel()
	if p.waitGroup(ctx) {
		return
	}
	if !p.empty() {
		p.group.force()
	}
	wire.Either(p.done, time.After(time.Second)) // exceeded only by processes that SIGKILL does not end
}

// waitGroup waits until the group is empty or ctx ends, and reports whether the group is empty. The system reports only
// the end of the child itself, so waitGroup polls for the other processes, at growing intervals.
func (p *Process) waitGroup(ctx context.Context) bool {
	select {
	case <-p.done:
	case <-ctx.Done():
		if !wire.IsClosed(p.done) {
			return false
		}
	}
	const settle = 8 * time.Millisecond // usually long enough for init to reap the processes
	for pause := time.Millisecond; !p.gone && p.group.lives(); pause = min(2*pause, 32*time.Millisecond) {
		if pause >= settle && groupIsDead(p.Pid()) {
			return true
		}
		if !wire.Sleep(ctx, pause) {
			return false
		}
	}
	return true
}

// startFault returns a Fault that explains why cmd could not be started.
func startFault(cmd *exec.Cmd, err error) *wire.Fault {
	name := cmd.Path
	if len(cmd.Args) > 0 {
		name = cmd.Args[0]
	}
	fault := func(kind wire.FaultKind, why, hint string) *wire.Fault {
		return wire.NewFault(kind, name+why, err).WithHint(hint)
	}
	switch {
	case isType(name, fs.ModeSocket):
		return fault(wire.NotExecutable, " is a socket, not a program", "unix:"+wire.Quote(name)+" connects to it")
	case cmd.Dir != "" && !isType(cmd.Dir, fs.ModeDir):
		return fault(wire.NotFound, ": the working directory does not exist: "+cmd.Dir, "")
	case errors.Is(err, exec.ErrDot):
		return fault(wire.NotFound, " is in the working directory, which is not searched", "./"+name)
	case errors.Is(err, exec.ErrNotFound):
		hint := ""
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			hint = "./" + name
		}
		return fault(wire.NotFound, ": command not found", hint)
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := os.Stat(cmd.Path); statErr == nil {
			return fault(wire.NotExecutable, ": "+noInterpreter(cmd.Path), "")
		}
		return fault(wire.NotFound, ": no such file", "")
	case errors.Is(err, fs.ErrPermission):
		return fault(wire.NotExecutable, " is not executable", "chmod +x "+wire.Quote(name))
	case errors.Is(err, syscall.ENOEXEC):
		return fault(wire.NotExecutable, " is neither a program nor a script that begins with #!", "sh "+wire.Quote(name))
	case errors.Is(err, syscall.ENOTDIR):
		return fault(wire.NotFound, ": no such file", "")
	}
	return fault(wire.Unreachable, " cannot be started: "+strings.TrimSpace(wire.WithoutPath(err).Error()), "")
}

// HasCRLF reports whether the first line of a script ends with CR LF.
func HasCRLF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	line, _, ok := bytes.Cut(head[:n], []byte("\n"))
	return ok && bytes.HasPrefix(line, []byte("#!")) && bytes.HasSuffix(line, []byte("\r"))
}

// noInterpreter explains why the system could not find a script's interpreter.
func noInterpreter(path string) string {
	if HasCRLF(path) {
		return "its first line ends with CR LF; scripts need LF"
	}
	return "the interpreter in its first line does not exist"
}

// isType reports whether there is a file of this type.
func isType(name string, want fs.FileMode) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&want != 0
}

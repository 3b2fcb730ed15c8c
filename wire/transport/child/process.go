package child

import (
	"context"
	"errors"
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

// A Process is a child in a group of its own. On Linux the system kills it (it
// alone, not its group) when we are killed, on Windows the whole group. Whoever
// started it calls End, also after it has exited by itself.
type Process struct {
	cmd   *exec.Cmd
	group group
	done  chan struct{} // closed when the child has been waited for
	gone  bool          // after done: nobody of the group was left then
	err   error         // after done: of cmd.Wait
}

// Start starts cmd, which must not have been started. It changes
// cmd.SysProcAttr so that the child is in a group of its own, and waits for the
// child in the background: cmd.Wait must not be called. Where cmd has writers that are no
// *os.File, set cmd.WaitDelay too, else a grandchild that keeps stdout open
// holds up Done.
//
// Failures are *wire.Fault of the kinds NotFound and NotExecutable, else
// Unreachable.
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

// run starts the child and waits for it, on one thread: the death signal of a child (Linux) comes when the thread that
// started it ends.
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
	// While one of its members lives, the group's number is not given to
	// others. That nobody was left is remembered, so that no stranger gets a
	// signal of ours later.
	p.gone = !p.group.lives()
	close(p.done)
}

// Done returns a channel that is closed when the child has exited and, where cmd has writers,
// they have got what it wrote. Its own children may still run.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for Done and returns what cmd.Wait returned.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Pid returns the child's process id, which names its group too.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Status returns how the child ended: its exit status, or -1 and the signal's name.
// Before Done it returns -1 and "".
func (p *Process) Status() (exit int, signal string) {
	if !transport.IsClosed(p.done) || p.cmd.ProcessState == nil {
		return -1, ""
	}
	ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return -1, signalName(ws.Signal())
	}
	return p.cmd.ProcessState.ExitCode(), ""
}

// empty reports whether nobody of the group was left when the child was waited for.
func (p *Process) empty() bool { return transport.IsClosed(p.done) && p.gone }

// LeftBehind reports whether the child has exited and somebody of its group lives
// on.
func (p *Process) LeftBehind() bool {
	return transport.IsClosed(p.done) && !p.gone && p.group.lives() && !groupIsDead(p.Pid())
}

// HurriedGrace is what a child has to end once nobody waits for it any longer.
const HurriedGrace = 150 * time.Millisecond

// End asks the whole group to end (SIGTERM; on Windows Ctrl-Break), and after grace
// forces it (SIGKILL). It returns when the group is empty, at the latest a second
// after it was forced. If the child has exited already it does the same for the processes that
// the child left behind.
func (p *Process) End(grace time.Duration) { p.EndWithin(context.Background(), grace) }

// EndWithin is End with a grace that is over HurriedGrace after hurry has ended, which may
// be nil.
func (p *Process) EndWithin(hurry context.Context, grace time.Duration) {
	if !p.empty() && !p.group.ask() {
		p.group.force()
	}
	ctx, cancel := transport.Within(hurry, grace, HurriedGrace)
	defer cancel()
	if p.waitGroup(ctx) {
		return
	}
	if !p.empty() {
		p.group.force()
	}
	select {
	case <-p.done:
	case <-time.After(time.Second): // longer only for what no signal ends
	}
}

// waitGroup waits until the process group is empty, for d at most. The system
// reports only the end of the child itself; for the child's own children we have to
// poll, less often the longer they last.
func (p *Process) waitGroup(ctx context.Context) bool {
	select {
	case <-p.done:
	case <-ctx.Done():
		if !transport.IsClosed(p.done) {
			return false
		}
	}
	const settle = 8 * time.Millisecond // whoever reaps mostly has done it by then
	for pause := time.Millisecond; !p.gone && p.group.lives(); pause = min(2*pause, 32*time.Millisecond) {
		if pause >= settle && groupIsDead(p.Pid()) {
			return true
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// startFault says why cmd could not be started.
func startFault(cmd *exec.Cmd, err error) *wire.Fault {
	name := cmd.Path
	if len(cmd.Args) > 0 {
		name = cmd.Args[0]
	}
	fault := func(kind wire.FaultKind, why, hint string) *wire.Fault {
		f := wire.NewFault(kind, name+": "+why, err)
		f.Hint = hint
		return f
	}
	switch {
	case cmd.Dir != "" && !isDir(cmd.Dir):
		return fault(wire.NotFound, "its working directory does not exist: "+cmd.Dir, "")
	case errors.Is(err, exec.ErrDot):
		return fault(wire.NotFound, "is only in the working directory, which is not searched", "./"+name)
	case errors.Is(err, exec.ErrNotFound):
		hint := ""
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			hint = "./" + name
		}
		return fault(wire.NotFound, "command not found", hint)
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := os.Stat(cmd.Path); statErr == nil {
			return fault(wire.NotExecutable, "the interpreter that its first line names does not exist", "")
		}
		return fault(wire.NotFound, "no such file", "")
	case errors.Is(err, fs.ErrPermission):
		return fault(wire.NotExecutable, "is not executable", "chmod +x "+wire.Quote(name))
	case errors.Is(err, syscall.ENOEXEC):
		return fault(wire.NotExecutable, "is neither a program nor a script that begins with #!", "sh "+wire.Quote(name))
	case errors.Is(err, syscall.ENOTDIR):
		return fault(wire.NotFound, "no such file", "")
	}
	var path *fs.PathError
	why := err.Error()
	if errors.As(err, &path) {
		why = path.Err.Error()
	}
	return fault(wire.Unreachable, "cannot be started: "+strings.TrimSpace(why), "")
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

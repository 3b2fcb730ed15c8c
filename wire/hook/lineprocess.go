package hook

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// exitTime is how long a process may take to exit after its stdin has been closed.
const exitTime = 500 * time.Millisecond

// A LineProcess is a shell command that reads and writes lines.
type LineProcess struct {
	p      *process
	lines  chan []byte   // lines for its stdin
	done   chan struct{} // closed when the process has ended and its output has been processed
	stderr *tail

	how      string      // how the process ended; valid when done is closed
	ok       bool        // whether the process ended properly; valid when done is closed
	stopping atomic.Bool // Stop was called
}

// StartLineProcess starts command with sh, in its own process group. stderr receives whole lines of the command's
// stderr and may be nil. The caller must call Run.
func StartLineProcess(command string, stderr io.Writer) (*LineProcess, error) {
	t := &tail{to: func(lines []byte) {
		if stderr != nil {
			stderr.Write(lines)
		}
	}}
	return startLineProcess(context.Background(), command, inherited(), t)
}

func startLineProcess(patience context.Context, command string, env []string, stderr *tail) (*LineProcess, error) {
	p, err := startShell(patience, command, env)
	if err != nil {
		return nil, err
	}
	return &LineProcess{p: p, lines: make(chan []byte), done: make(chan struct{}), stderr: stderr}, nil
}

// Run calls onLine with each line of stdout that is not blank, until the process ends. Then it calls last, which may be
// nil, and closes Done. When last runs, Result is valid. Run returns an error if a line is too long.
func (t *LineProcess) Run(onLine func(line []byte), last func()) error {
	var writer, stderr sync.WaitGroup
	writer.Go(t.write)
	stderr.Go(func() { copyTail(t.stderr, &pipe{f: t.p.stderr, exited: t.p.Done()}) })
	stderr.Go(func() {
		<-t.p.Done()
		t.p.wakeReaders()
	})
	err := eachLine(&pipe{f: t.p.stdout, exited: t.p.Done()}, func(line []byte) error {
		onLine(line)
		return nil
	})
	if err != errTooLong {
		err = nil // a failed read is the end of the process, which Result describes
	}
	t.p.stdin.Close()
	wire.Either(t.p.Done(), time.After(exitTime)) // the process may have closed only its stdout
	t.p.force()
	stderr.Wait()
	t.how, t.ok = t.p.ending()
	if last := t.stderr.last(); last != "" {
		t.how += ": " + last
	}
	if last != nil {
		last()
	}
	close(t.done)
	writer.Wait()
	t.p.closePipes()
	return err
}

func (t *LineProcess) write() {
	for {
		select {
		case line := <-t.lines:
			if _, err := t.p.stdin.Write(line); err != nil {
				return // the process no longer reads, but its output still counts
			}
		case <-t.done:
			return
		}
	}
}

// Send sends a line, which includes its line break, to the process. It returns false if giveUp is closed or the process
// ends first.
func (t *LineProcess) Send(giveUp <-chan struct{}, line []byte) bool {
	select {
	case t.lines <- line:
		return true
	case <-t.done:
	case <-giveUp:
	}
	return false
}

// Done returns a channel that is closed when the process has ended and all its output has been processed.
func (t *LineProcess) Done() <-chan struct{} { return t.done }

// Result returns how the process ended. Done must be closed. ok is true after an exit with status 0 or after Stop.
func (t *LineProcess) Result() (how string, ok bool) { return t.how, t.ok || t.stopping.Load() }

// Stop sends last, which may be empty, and closes stdin, so the process can exit. If it does not exit, Stop sends
// SIGTERM and later SIGKILL.
func (t *LineProcess) Stop(last []byte) {
	t.stopping.Store(true)
	if len(last) > 0 {
		stop, end := transport.Within(t.p.patience, exitTime, 0)
		_ = t.Send(stop.Done(), last) && t.Send(stop.Done(), nil) // the process's writer accepts the second, empty message only after it has written the first
		end()
	}
	t.p.stdin.Close()
	patience, cancel := transport.Within(t.p.patience, exitTime, 0)
	defer cancel()
	select {
	case <-t.p.Done():
	case <-patience.Done():
		t.p.EndWithin(t.p.patience, grace)
	}
}

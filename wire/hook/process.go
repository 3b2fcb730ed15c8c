package hook

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport/child"
)

const (
	maxOutput  = 64 << 20               // the maximum size of a command's stdout, or of one line, in bytes
	tailSize   = 4 << 10                // how many bytes of the end of stderr are kept
	grace      = time.Second            // the time between SIGTERM and SIGKILL
	outputWait = 100 * time.Millisecond // how long to wait, after the command has exited, for other processes that have a pipe open
	afterExit  = 1 << 20                // the maximum number of bytes from those processes; more than a pipe can hold
)

// A process is sh, running a command in its own process group.
type process struct {
	*child.Process
	stdin, stdout, stderr *os.File        // rpcx's ends of the pipes
	patience              context.Context // Options.Hurry
}

// startShell starts sh -c command. patience may be nil.
func startShell(patience context.Context, command string, env []string) (*process, error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = env
	stdin, toStdin, err1 := child.PipeTo()
	fromStdout, stdout, err2 := child.PipeFrom()
	fromStderr, stderr, err3 := child.PipeFrom()
	defer closeFiles(stdin, stdout, stderr)
	p := &process{patience: patience, stdin: toStdin, stdout: fromStdout, stderr: fromStderr}
	err := cmp.Or(err1, err2, err3)
	if err == nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
		p.Process, err = child.Start(cmd)
	}
	if err != nil {
		p.closePipes()
		return nil, err
	}
	return p, nil
}

func (p *process) closePipes() { closeFiles(p.stdin, p.stdout, p.stderr) }

// closeFiles closes files. A nil file has no effect.
func closeFiles(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// wakeReaders interrupts the readers of p's pipes. It must be called after p has exited.
func (p *process) wakeReaders() {
	p.stdout.SetReadDeadline(time.Now())
	p.stderr.SetReadDeadline(time.Now())
}

// ending describes how p exited. ok is false after a failure.
func (p *process) ending() (how string, ok bool) {
	exit, signal := p.Status()
	if signal != "" {
		return "was killed by " + signal, false
	}
	return "ended with status " + strconv.Itoa(exit), exit == 0
}

// A pipe reads all output that a process wrote before it exited. If other processes have the pipe open, it waits only
// briefly for their output, and its last error is os.ErrDeadlineExceeded.
type pipe struct {
	f      *os.File
	exited <-chan struct{}
	waited time.Duration
	late   int // the number of bytes that were read after the exit
}

// Read implements io.Reader. When exited is closed, wakeReaders must be called to wake it.
func (p *pipe) Read(b []byte) (int, error) {
	for {
		late := wire.IsClosed(p.exited)
		if late {
			if p.waited >= outputWait || p.late > afterExit {
				return 0, os.ErrDeadlineExceeded
			}
			p.f.SetReadDeadline(time.Now().Add(outputWait - p.waited))
		}
		start := time.Now()
		n, err := p.f.Read(b)
		if late {
			p.waited += time.Since(start)
			p.late += n
		}
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
}

// left reports whether err means that other processes still have the pipe open.
func left(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// A tail forwards whole lines and keeps the end of the output.
type tail struct {
	to   func(lines []byte)
	line []byte
	end  []byte
}

// Write implements io.Writer. It never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.end = append(t.end, b[max(0, len(b)-tailSize):]...)
	if over := len(t.end) - tailSize; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	t.line = append(t.line, b...)
	n := strings.LastIndexByte(string(t.line), '\n') + 1
	if len(t.line) > 64<<10 {
		n = len(t.line)
	}
	if n > 0 {
		t.to(t.line[:n])
		t.line = append(t.line[:0], t.line[n:]...)
	}
	return len(b), nil
}

// text returns the last bytes of the output, at most tailSize.
func (t *tail) text() string { return strings.ToValidUTF8(string(t.end), "\uFFFD") }

// last returns the last line that is not blank.
func (t *tail) last() string {
	text := strings.TrimSpace(t.text())
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// newTail returns a tail for the stderr of a hook.
func (t *Table) newTail() *tail {
	return &tail{to: func(lines []byte) {
		if t.o.Stderr != nil {
			t.stderr.Lock()
			defer t.stderr.Unlock()
			t.o.Stderr.Write(lines)
		}
	}}
}

// copyTail copies r to t. It adds a line break to a last line that has none.
func copyTail(t *tail, r io.Reader) {
	_, _ = io.Copy(t, r)
	if len(t.line) > 0 {
		t.to(append(t.line, '\n'))
		t.line = nil
	}
}

package env

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/format"
	"rpcx/wire/syserr"
)

// terminalOut writes data to stdout; while there is a prompt, above its line.
type terminalOut struct {
	Prompt atomic.Pointer[format.Prompt]
	stdout boundedWriter
	stderr boundedWriter
}

func (s *terminalOut) Write(b []byte) (int, error) {
	if p := s.Prompt.Load(); p != nil {
		return p.Write(b)
	}
	return s.stdout.Write(b)
}

// A boundedWriter writes to a file without blocking the end of the program. A write to
// a full pipe or to a stopped terminal cannot be cancelled; once giveUp was called, such
// a write is left to its goroutine, and Write returns.
type boundedWriter struct {
	f    *os.File
	over chan struct{} // closed when writes must not wait any longer; nil: they always may
	once sync.Once
	why  error // set before over is closed: what ended the waiting
}

// lastWrite bounds a write once over is closed.
const lastWrite = 50 * time.Millisecond

func (p *boundedWriter) init(f *os.File) {
	p.f = f
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() && !isNull(info) {
		p.over = make(chan struct{})
	}
}

// isNull reports whether a file is the null device, to which a write never blocks.
func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// NeverWaits reports whether a write to stdout cannot block: it is a regular file, or
// the null device.
func (s *terminalOut) NeverWaits() bool { return s.Prompt.Load() == nil && s.stdout.over == nil }

// Write implements io.Writer. A write that is given up goes on in its goroutine and still uses b.
func (p *boundedWriter) Write(b []byte) (int, error) {
	if p.over == nil {
		return p.f.Write(b)
	}
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	go func() {
		n, err := p.f.Write(b)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-p.over:
	}
	select {
	case r := <-written:
		return r.n, r.err
	case <-time.After(lastWrite):
		return 0, p.why
	}
}

func (p *boundedWriter) giveUp(why error) {
	p.once.Do(func() {
		p.why = why
		if p.over != nil {
			close(p.over)
		}
	})
}

// BoundOutput gives up writes to stdout and stderr that are still blocked a
// moment after ctx has ended. stop undoes that, before ctx ends.
func (run *Env) BoundOutput(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		why := context.Cause(ctx)
		time.AfterFunc(hurriedPrint, func() {
			run.Out.stdout.giveUp(why)
			run.Out.stderr.giveUp(why)
		})
	})
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

// Restore restores the terminal's modes that the prompt has changed.
func (s *terminalOut) Restore() {
	if p := s.Prompt.Load(); p != nil {
		p.Restore()
	}
}

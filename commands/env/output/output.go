// Package output writes to stdout and stderr. A blocked write does not prevent the end of the program.
package output

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/format"
)

// Streams writes data to stdout (Write), and messages to stderr. With a prompt, data appears above the prompt's line.
type Streams struct {
	Prompt atomic.Pointer[format.Prompt]
	stdout boundedWriter
	stderr boundedWriter
}

// Init selects the streams of the process.
func (s *Streams) Init() {
	s.stdout.init(os.Stdout)
	s.stderr.init(os.Stderr)
}

// Stderr returns the writer to stderr.
func (s *Streams) Stderr() io.Writer { return &s.stderr }

// Abandon makes all blocked and later writes fail with the error why.
func (s *Streams) Abandon(why error) {
	s.stdout.giveUp(why)
	s.stderr.giveUp(why)
}

// Write implements io.Writer.
func (s *Streams) Write(b []byte) (int, error) {
	if p := s.Prompt.Load(); p != nil {
		return p.Write(b)
	}
	return s.stdout.Write(b)
}

// A boundedWriter writes to a file. Its blocked writes do not prevent the end of the program. A write to a full pipe or
// a stopped terminal cannot be cancelled. After giveUp, Write returns, and its goroutine continues the write.
type boundedWriter struct {
	f    *os.File
	over chan struct{} // closed when writes must stop waiting; may be nil
	once sync.Once
	why  error // why writes must stop; set before over is closed
}

// lastWrite bounds a write after over is closed.
const lastWrite = 50 * time.Millisecond

func (p *boundedWriter) init(f *os.File) {
	p.f = f
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() && !isNull(info) {
		p.over = make(chan struct{})
	}
}

// isNull reports whether a file is the null device, on which a write never blocks.
func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// NeverWaits reports whether a write to stdout cannot block, because stdout is a regular file or the null device.
func (s *Streams) NeverWaits() bool { return s.Prompt.Load() == nil && s.stdout.over == nil }

// Write implements io.Writer. An abandoned write continues in its goroutine, which still uses b.
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

// Restore restores the terminal modes that the prompt has changed.
func (s *Streams) Restore() {
	if p := s.Prompt.Load(); p != nil {
		p.Restore()
	}
}

package child

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// rpcx keeps this much of a child's stderr, for the error when the child ends.
const (
	tailLines = 20
	tailWidth = 500 // in bytes
)

// A tail is a writer that keeps the last lines which are not blank.
type tail struct {
	mu   sync.Mutex
	kept []string
	line []byte // the last line, which is incomplete
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := p; len(rest) > 0; {
		part, more, ended := bytes.Cut(rest, []byte("\n"))
		t.line = append(t.line, part[:min(len(part), tailWidth-min(len(t.line), tailWidth))]...)
		if ended {
			t.kept = appendLine(t.kept, t.line)
			t.line = t.line[:0]
		}
		rest = more
	}
	return len(p), nil
}

// lines returns the last lines. The very last one may be incomplete.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return appendLine(slices.Clone(t.kept), t.line)
}

func appendLine(lines []string, line []byte) []string {
	text := strings.TrimRight(strings.ToValidUTF8(string(line), "\uFFFD"), " \t\r")
	if text == "" {
		return lines
	}
	if len(lines) == tailLines {
		lines = slices.Delete(lines, 0, 1)
	}
	return append(lines, text)
}

// stderrPump forwards a child's stderr and keeps its last lines.
type stderrPump struct {
	tail
	r    *os.File
	done chan struct{}
}

// newStderrPump starts copying. The returned file is the child's end of the pipe.
func newStderrPump(to io.Writer) (*stderrPump, *os.File, error) {
	r, w, err := PipeFrom()
	if err != nil {
		return nil, nil, err
	}
	p := &stderrPump{r: r, done: make(chan struct{})}
	go p.run(to)
	return p, w, nil
}

func (p *stderrPump) run(to io.Writer) {
	defer close(p.done)
	if f, ok := to.(wire.Flusher); ok {
		defer f.Flush() // writes an incomplete last line
	}
	buf := make([]byte, 4096)
	for {
		n, err := p.r.Read(buf)
		p.tail.Write(buf[:n])
		if to != nil && n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				to = nil // a writer that fails must not delay the child
			}
		}
		if err != nil {
			return
		}
	}
}

// settle waits for the end of stderr, but at most d, because a grandchild may keep stderr open.
func (p *stderrPump) settle(d time.Duration) { wire.Either(p.done, time.After(d)) }

// close stops copying when everything that has been written so far is copied. The copying may take at most d.
func (p *stderrPump) close(hurry context.Context, d time.Duration) {
	p.settle(stderrTimeout)
	p.r.Close()
	patience, cancel := transport.Within(hurry, d, stderrTimeout)
	defer cancel()
	wire.Either(p.done, patience.Done()) // the writer may be slow
}

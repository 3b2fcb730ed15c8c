package child

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
)

// rpcx keeps this much of a child's stderr, for the error when the child ends.
const (
	tailLines = 20
	tailWidth = 500 // in bytes
)

// stderr is the writer for a child's stderr. It passes everything on and keeps the last lines that are not blank.
type stderr struct {
	writing sync.Mutex // held while to is in use
	to      io.Writer  // may be nil
	failed  bool       // to has failed, which must not delay the child

	mu   sync.Mutex
	kept []string
	line []byte // the last line, which is incomplete
}

// Write implements io.Writer.
func (t *stderr) Write(p []byte) (int, error) {
	t.keep(p)
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.to != nil && !t.failed {
		_, err := t.to.Write(p)
		t.failed = err != nil
	}
	return len(p), nil
}

func (t *stderr) keep(p []byte) {
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
}

// flush writes an incomplete last line, unless a write is in progress, whose writer may be slow.
func (t *stderr) flush() {
	if f, ok := t.to.(wire.Flusher); ok && t.writing.TryLock() {
		defer t.writing.Unlock()
		f.Flush()
	}
}

// lines returns the last lines. The very last one may be incomplete.
func (t *stderr) lines() []string {
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

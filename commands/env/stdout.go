package env

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"rpcx/format"
)

// terminalOut writes data to stdout; while there is a prompt, above its line.
type terminalOut struct{ Prompt atomic.Pointer[format.Prompt] }

func (s *terminalOut) Write(b []byte) (int, error) {
	if p := s.Prompt.Load(); p != nil {
		return p.Write(b)
	}
	return os.Stdout.Write(b)
}

// brokenStdout reports whether err is that stdout itself is a pipe without a reader.
func brokenStdout(err error) bool {
	var path *fs.PathError
	return errors.Is(err, syscall.EPIPE) && errors.As(err, &path) && path.Path == os.Stdout.Name()
}

// Restore gives a terminal the modes back that the prompt has changed.
func (s *terminalOut) Restore() {
	if p := s.Prompt.Load(); p != nil {
		p.Restore()
	}
}

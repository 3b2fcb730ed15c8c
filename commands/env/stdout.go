package env

import (
	"os"
	"sync/atomic"

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

// Restore gives a terminal the modes back that the prompt has changed.
func (s *terminalOut) Restore() {
	if p := s.Prompt.Load(); p != nil {
		p.Restore()
	}
}

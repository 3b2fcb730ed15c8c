package env

import (
	"os"
	"sync/atomic"

	"rpcx/format"
)

// terminalOut is where data goes: above the prompt, while there is one.
type terminalOut struct{ Prompt atomic.Pointer[format.Prompt] }

func (s *terminalOut) Write(b []byte) (int, error) {
	if p := s.Prompt.Load(); p != nil {
		return p.Write(b)
	}
	return os.Stdout.Write(b)
}

// Restore gives a terminal its modes back.
func (s *terminalOut) Restore() {
	if p := s.Prompt.Load(); p != nil {
		p.Restore()
	}
}

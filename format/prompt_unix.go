//go:build unix

package format

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// terminalSignals are what the terminal, and the shell before us, tell us.
var terminalSignals = []os.Signal{syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGQUIT}

// told does what a signal asks for.
func (p *Prompt) told(s os.Signal) {
	switch s {
	case syscall.SIGWINCH:
		p.resize()
	case syscall.SIGCONT:
		p.resume()
	case syscall.SIGQUIT:
		p.Close()
		signal.Reset(syscall.SIGQUIT)
		_ = syscall.Kill(os.Getpid(), syscall.SIGQUIT)
	}
}

// resume takes the terminal over again after the process was stopped.
func (p *Prompt) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.take()
	}
}

// stopWithin is the time that a process gets to notice that it was stopped.
const stopWithin = 100 * time.Millisecond

// stopGroup stops us and what was started with us, until the shell lets us go on.
func stopGroup() {
	_ = syscall.Kill(0, syscall.SIGTSTP)
	time.Sleep(stopWithin) // which lasts until we go on
}

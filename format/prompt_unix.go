//go:build unix

package format

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// terminalSignals are the signals that concern the terminal.
var terminalSignals = []os.Signal{syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGQUIT}

func (p *Prompt) handleSignal(s os.Signal) {
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

// resume sets up the terminal again after the process has been stopped.
func (p *Prompt) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.take()
	}
}

// stopWithin is the maximum time until a process that has stopped itself is actually stopped.
const stopWithin = 100 * time.Millisecond

// stopGroup stops this process group until the shell continues it.
func stopGroup() {
	_ = syscall.Kill(0, syscall.SIGTSTP)
	time.Sleep(stopWithin) // the process stops during this sleep
}

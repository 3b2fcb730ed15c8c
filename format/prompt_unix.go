//go:build unix

package format

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// terminalSignals are the signals about the terminal.
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

// resume prepares the terminal again after a stop of the process.
func (p *Prompt) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.take()
	}
}

// stopWithin bounds the time until a process that stopped itself notices the stop.
const stopWithin = 100 * time.Millisecond

// stopGroup stops this process group until the shell continues it.
func stopGroup() {
	_ = syscall.Kill(0, syscall.SIGTSTP)
	time.Sleep(stopWithin) // the stop interrupts the sleep
}

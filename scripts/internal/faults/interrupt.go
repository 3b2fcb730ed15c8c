//go:build linux

package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// signalled reports whether a signal has ended the run. After that, no process may be started.
var signalled atomic.Bool

// unlessSignalled blocks forever if the run has ended, because the caller would otherwise start a process or report a killed one.
func unlessSignalled() {
	if signalled.Load() {
		select {}
	}
}

// interrupted returns a channel for the signal that ends the run.
func interrupted() <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// go run does not forward SIGTERM: it exits, and this program continues.
	parent := os.Getppid()
	if name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(parent), "comm")); strings.TrimSpace(string(name)) == "go" {
		go func() {
			for os.Getppid() == parent {
				time.Sleep(10 * lookEvery)
			}
			signals <- syscall.SIGTERM
		}()
	}
	return signals
}

// stop ends the run after a signal. It kills the processes of all cells and their children until none is left.
func (b *bench) stop() {
	signalled.Store(true)
	for quiet := 0; quiet < 5; quiet++ {
		for _, p := range carrying(fmt.Sprintf("FAULTS_CELL=%d-", os.Getpid())) {
			syscall.Kill(p.pid, syscall.SIGKILL)
			quiet = 0
		}
		time.Sleep(lookEvery)
	}
	os.RemoveAll(b.dir)
}

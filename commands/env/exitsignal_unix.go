//go:build unix

package env

import (
	"os"
	"syscall"
)

// signalSelf sends a signal to this process.
func signalSelf(s syscall.Signal) bool { return syscall.Kill(os.Getpid(), s) == nil }

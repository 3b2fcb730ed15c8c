//go:build unix

package env

import (
	"os"
	"syscall"
)

// signalSelf sends us a signal.
func signalSelf(s syscall.Signal) bool { return syscall.Kill(os.Getpid(), s) == nil }

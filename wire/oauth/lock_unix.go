//go:build unix

package oauth

import (
	"os"
	"syscall"
)

// lock takes the lock on f without waiting; false if another process has it.
func lock(f *os.File) bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }

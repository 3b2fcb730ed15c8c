//go:build unix

package recorder

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a tape until its file is closed. It returns false if another recorder holds the lock.
func lock(f *os.File) bool {
	return !errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

//go:build unix

package recorder

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a tape until the file closes. It returns false if another recorder has the lock.
func lock(f *os.File) bool {
	return !errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

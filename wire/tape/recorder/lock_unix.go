//go:build unix

package recorder

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock on a tape, which ends with the file; false if another recorder has it.
func lock(f *os.File) bool {
	return !errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

//go:build unix

package oauth

import (
	"os"
	"syscall"
)

// tryLock locks f without waiting. It returns false if another process has the lock.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

//go:build unix

package stream

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// socketsMove reports whether a socket can still be used after it was renamed.
const socketsMove = true

// lockFolder locks a directory while a process checks a path there and creates a socket, so only one process can
// replace a stale socket. It leaves no lock file. If locking is not supported or takes too long, lockFolder continues
// without the lock.
func lockFolder(folder string) (unlock func()) {
	f, err := os.Open(folder)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
	}
	return func() { f.Close() }
}

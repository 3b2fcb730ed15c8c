//go:build unix

package stream

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// socketsMove reports whether a socket keeps listening after a rename.
const socketsMove = true

// lockFolder locks dir for checking a path and binding a socket there, which lets only one process replace a stale
// socket. The lock leaves no file. If the lock takes long or is not supported, it continues without a lock.
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

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

// lockFolder lets one process at a time check a name in the directory and put a socket there, so that one process
// replaces a stale socket. It locks the directory itself and leaves no files behind. If locks take long or do not
// exist, it continues without one.
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

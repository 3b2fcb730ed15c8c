//go:build unix

package stream

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// socketsMove says that a socket goes on listening under another name.
const socketsMove = true

// lockFolder lets one process at a time look at a name in the folder and put a
// socket there, so that a stale socket has one heir. The folder itself is
// locked: nothing is left behind. Who locks it for long, or a file system that
// has no locks, does not keep us.
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

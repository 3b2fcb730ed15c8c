//go:build unix

package rundir

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"rpcx/wire"
)

// checkOwn refuses a folder that is not ours, that others can enter, or that is
// a link.
func checkOwn(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || (ok && int(st.Uid) != os.Getuid()) {
		f := wire.Usagef("%s is not a folder of ours", dir)
		f.Hint = otherPlace(dir)
		return f
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return wire.Usagef("%s can be entered by others (mode %04o); it must be 0700", dir, perm)
	}
	return nil
}

// lockFile waits for the lock on f and takes it. It gives up when f is closed. The
// lock is only held for a moment, but its holder may be a process that was stopped
// just then, so the wait has an end.
func lockFile(f *os.File) error {
	for end := time.Now().Add(lockBound); ; time.Sleep(lockPause) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EWOULDBLOCK):
			return err
		case time.Now().After(end):
			return fmt.Errorf("another process of ours has it for more than %v", lockBound)
		}
	}
}

const (
	lockBound = 20 * time.Second
	lockPause = 2 * time.Millisecond
)

// Refused reports whether nobody listens at a socket.
func Refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// Crowded reports whether a socket has more connections waiting than it keeps.
func Crowded(err error) bool { return errors.Is(err, syscall.EAGAIN) }

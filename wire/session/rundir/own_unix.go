//go:build unix

package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"rpcx/wire"
)

// checkOwn rejects a symbolic link, and a directory that another user owns or can enter.
func checkOwn(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || (ok && int(st.Uid) != os.Getuid()) {
		return wire.Usagef("%s is not a directory that belongs to this user", dir).WithHint(otherPlace(dir))
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return wire.Usagef("other users can enter %s (mode %04o); its mode must be 0700", dir, perm)
	}
	return nil
}

// otherPlace returns what to do if dir cannot be used. In the temporary directory, any user can have created that name.
func otherPlace(dir string) string {
	if xdg := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(xdg) && strings.HasPrefix(dir, xdg) {
		return "remove it, or name another directory in XDG_RUNTIME_DIR"
	}
	return "another user created it: set XDG_RUNTIME_DIR to a directory of your own"
}

// A lock is a file lock on the directory itself.
type lock struct{ *os.File }

func openLock(dir string) (lock, error) {
	d, err := os.Open(dir)
	return lock{d}, err
}

// take tries to acquire the lock. The lock is held until Close or the end of the process. take returns false if another
// process holds the lock.
func (l lock) take() (bool, error) {
	err := syscall.Flock(int(l.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

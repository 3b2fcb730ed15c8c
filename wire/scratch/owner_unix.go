//go:build unix

package scratch

import (
	"os"
	"syscall"
)

// ours reports whether path is a directory (not a link) that only this user can access.
func ours(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// lock locks f until the process ends. It returns false if another process has the lock, or if the file system does not
// support locks.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

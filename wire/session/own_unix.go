//go:build unix

package session

import (
	"fmt"
	"os"
	"syscall"
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
		return fmt.Errorf("%s is not a folder of ours", dir)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return fmt.Errorf("%s can be entered by others (mode %04o); it must be 0700", dir, perm)
	}
	return nil
}

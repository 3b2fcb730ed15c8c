//go:build unix

package schemes

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// inherited returns the descriptors that a child of this process would inherit.
func inherited() (open []int) {
	for fd := range 64 {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			open = append(open, fd)
		}
	}
	return open
}

// exists reports whether a process with that id exists.
func exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

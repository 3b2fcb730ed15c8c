//go:build unix

package daemon

import (
	"os"
	"strconv"
	"syscall"
)

// detached starts a process in a session of its own, so that signals of the
// terminal do not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// closeOnExec marks inherited descriptors close-on-exec, so that child processes
// do not hold them open.
func closeOnExec() {
	dir, err := os.ReadDir("/dev/fd")
	if err != nil {
		for fd := 3; fd < 1024; fd++ {
			syscall.CloseOnExec(fd)
		}
		return
	}
	for _, entry := range dir {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// inheritedFile returns the pipe that the launching command passed as fd; nil if
// it is no open pipe.
func inheritedFile(fd int) *os.File {
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "fd "+strconv.Itoa(fd))
}

//go:build unix

package daemon

import (
	"os"
	"strconv"
	"syscall"
)

// detached has a process start in a session of its own: no terminal's signals
// reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// closeOnExec has no process that we start inherit a descriptor that was left
// open for us, such as a pipe that somebody reads to its end.
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

// inheritedFile is a descriptor that our starter gave us, and that nobody gets
// from us; nil where it is not open.
func inheritedFile(fd int) *os.File {
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "fd "+strconv.Itoa(fd))
}

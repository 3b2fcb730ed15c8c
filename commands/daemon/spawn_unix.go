//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// The starting command passes these descriptors to a session process. Descriptors 0 to 2 are /dev/null.
const (
	requestFD = 3 // a startRequest; closed when the starting command ends
	eventFD   = 4 // for startEvents, until the session is ready
)

// handOver passes two pipes and no other descriptors to a session process. The process is in its own process session
// (setsid), which the terminal's signals do not reach.
func handOver(cmd *exec.Cmd, requests, events *os.File) {
	cmd.ExtraFiles = []*os.File{requests, events}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	closeOnExec()
}

// inherited returns the pipes of handOver, or nil for a descriptor that is not a pipe.
func inherited() (requests, events *os.File) {
	return inheritedFile(requestFD), inheritedFile(eventFD)
}

// closeOnExec marks inherited descriptors close-on-exec, because children must not inherit them.
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

// inheritedFile returns the pipe fd, or nil if fd is not an open pipe.
func inheritedFile(fd int) *os.File {
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "fd "+strconv.Itoa(fd))
}

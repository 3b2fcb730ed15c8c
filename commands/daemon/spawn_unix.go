//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// The descriptors that the launching command passes, beside three that lead nowhere.
const (
	requestFD = 3 // a startRequest, then nothing until the launching command ends
	eventFD   = 4 // what it has to say until the session is live
)

// handOver gives a session's process its two pipes and nothing else of ours, and a
// session of its own (setsid), so that signals of the terminal do not reach it.
func handOver(cmd *exec.Cmd, requests, events *os.File) {
	cmd.ExtraFiles = []*os.File{requests, events}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	closeOnExec()
}

// inherited returns what handOver has given; nil where that is no pipe.
func inherited() (requests, events *os.File) {
	return inheritedFile(requestFD), inheritedFile(eventFD)
}

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

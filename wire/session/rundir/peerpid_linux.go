package rundir

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"syscall"
)

// PeerPID returns the id of the process that listens at the other end of nc, or 0 if it is not known.
func PeerPID(nc net.Conn) (pid int) {
	c, ok := nc.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if cred, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// stopped reports whether the process pid is stopped by a signal or a debugger.
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	state := bytes.LastIndex(stat, []byte(") ")) + 2 // skips the command name, which may contain any character
	return err == nil && state < len(stat) && (stat[state] == 'T' || stat[state] == 't')
}

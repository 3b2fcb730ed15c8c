//go:build unix

package child

import (
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ipcHere returns an error on systems where Node's channel is not supported.
func ipcHere() error { return nil }

// inheritedSocket opens the descriptor with that number, which this process has inherited.
func inheritedSocket(number string) (net.Conn, error) {
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 3 {
		return nil, syscall.EBADF
	}
	if _, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "ipc")
	defer f.Close() // FileConn has made a copy, which children do not inherit
	return net.FileConn(f)
}

// socketPair returns two connected sockets that other children do not inherit.
func socketPair() (ours *net.UnixConn, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	theirs = os.NewFile(uintptr(fds[1]), "ipc")
	f := os.NewFile(uintptr(fds[0]), "ipc")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}

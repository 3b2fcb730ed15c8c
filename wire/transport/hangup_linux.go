package transport

import "golang.org/x/sys/unix"

// hungUp reports whether the far side of a socket has closed it both ways. It
// is for syscall.RawConn.Read, which asks again when something has changed.
func hungUp(fd uintptr) bool {
	p := []unix.PollFd{{Fd: int32(fd)}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0
}

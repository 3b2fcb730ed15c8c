package stream

import "golang.org/x/sys/unix"

// closeState reports whether the peer of a socket has closed its sending direction, even if its last bytes have not been
// read yet, and whether it has closed both directions.
func closeState(fd uintptr) (halfClosed, closed bool) {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	if err != nil || n == 0 {
		return false, false
	}
	return true, p[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
}

package stdio

import "golang.org/x/sys/unix"

// writeToPipeNonblocking writes as much of b to a pipe as possible without blocking, or returns EAGAIN. It returns
// errors.ErrUnsupported if the file, or a kernel before 6.4, does not support nonblocking writes to pipes.
func writeToPipeNonblocking(fd int, b []byte) (int, error) {
	n, err := unix.Pwritev2(fd, [][]byte{b}, -1, unix.RWF_NOWAIT)
	if err == unix.EINVAL || err == unix.ESPIPE {
		err = unix.ENOTSUP
	}
	return n, err
}

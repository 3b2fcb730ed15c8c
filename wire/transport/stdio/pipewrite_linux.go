package stdio

import "golang.org/x/sys/unix"

// writeToPipeNonblocking writes as much of b to a pipe as it can without blocking. If that is nothing, it returns
// EAGAIN. If the file, or a kernel before 6.4, does not support nonblocking writes to pipes, it returns
// errors.ErrUnsupported.
func writeToPipeNonblocking(fd int, b []byte) (int, error) {
	n, err := unix.Pwritev2(fd, [][]byte{b}, -1, unix.RWF_NOWAIT)
	if err == unix.EINVAL || err == unix.ESPIPE {
		err = unix.ENOTSUP
	}
	return n, err
}

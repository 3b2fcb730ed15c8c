package stdio

import "golang.org/x/sys/unix"

// writeToPipeNonblocking writes as much of b to a pipe as it takes without blocking; the error is
// EAGAIN if that is nothing. It is errors.ErrUnsupported if the file, or a kernel before 6.4,
// cannot write to a pipe without blocking.
func writeToPipeNonblocking(fd int, b []byte) (int, error) {
	n, err := unix.Pwritev2(fd, [][]byte{b}, -1, unix.RWF_NOWAIT)
	if err == unix.EINVAL || err == unix.ESPIPE {
		err = unix.ENOTSUP
	}
	return n, err
}

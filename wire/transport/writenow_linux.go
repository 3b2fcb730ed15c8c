package transport

import "golang.org/x/sys/unix"

// writeNow writes to a pipe as much of b as goes without waiting, EAGAIN where nothing
// does. It fails with errors.ErrUnsupported where the file or the kernel (before 6.4)
// cannot be asked not to wait.
func writeNow(fd int, b []byte) (int, error) {
	n, err := unix.Pwritev2(fd, [][]byte{b}, -1, unix.RWF_NOWAIT)
	if err == unix.EINVAL || err == unix.ESPIPE {
		err = unix.ENOTSUP
	}
	return n, err
}

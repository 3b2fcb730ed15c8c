//go:build unix && !linux

package stdio

import "golang.org/x/sys/unix"

// writeToPipeNonblocking returns an error that is errors.ErrUnsupported, because this system has no nonblocking writes
// to pipes.
func writeToPipeNonblocking(int, []byte) (int, error) { return 0, unix.ENOTSUP }

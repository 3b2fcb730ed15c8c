//go:build unix && !linux

package stdio

import "golang.org/x/sys/unix"

// writeToPipeNonblocking returns errors.ErrUnsupported on this system.
func writeToPipeNonblocking(int, []byte) (int, error) { return 0, unix.ENOTSUP }

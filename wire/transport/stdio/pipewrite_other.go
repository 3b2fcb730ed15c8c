//go:build unix && !linux

package stdio

import "golang.org/x/sys/unix"

// writeToPipeNonblocking is not available on this system.
func writeToPipeNonblocking(int, []byte) (int, error) { return 0, unix.ENOTSUP }

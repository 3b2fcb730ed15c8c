//go:build unix && !linux

package transport

import "golang.org/x/sys/unix"

// writeNow would write to a pipe without waiting, which cannot be asked for here.
func writeNow(int, []byte) (int, error) { return 0, unix.ENOTSUP }

//go:build unix

package httpclient

import "syscall"

// maxConnections returns how many connections to a server may be open at once: half of the limit of file descriptors if
// that is low, or 0 for any number.
func maxConnections() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1024 {
		return 0
	}
	return max(int(limit.Cur)/2, 1)
}

//go:build unix

package httpclient

import "syscall"

// maxConnections bounds the open connections to a server: half of a low limit of file descriptors, or 0 for no bound.
func maxConnections() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1024 {
		return 0
	}
	return max(int(limit.Cur)/2, 1)
}

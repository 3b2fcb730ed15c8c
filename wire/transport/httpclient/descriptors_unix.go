//go:build unix

package httpclient

import "syscall"

// maxConnections is the maximum number of open connections to a server: half of the limit of file descriptors if that
// limit is low, and otherwise 0, which means no maximum.
func maxConnections() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1024 {
		return 0
	}
	return max(int(limit.Cur)/2, 1)
}

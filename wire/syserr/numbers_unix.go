//go:build unix

package syserr

import "syscall"

var (
	refused    = []error{syscall.ECONNREFUSED}
	reset      = []error{syscall.ECONNRESET}
	crowded    = []error{syscall.EAGAIN}
	brokenPipe = []error{syscall.EPIPE}
	busy       = []error{syscall.EADDRINUSE}
	denied     = []error{syscall.EACCES}
	noStream   = []error{syscall.ENOTSOCK, syscall.EPROTOTYPE}
	noSockets  = []error{syscall.EAFNOSUPPORT}
)

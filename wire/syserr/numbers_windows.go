package syserr

import "syscall"

// The numbers are from Microsoft's lists "Windows Sockets Error Codes" and "System Error Codes". Windows never returns
// the POSIX errors of package syscall.
var (
	refused    = []error{syscall.Errno(10061)}                                                 // WSAECONNREFUSED
	reset      = []error{syscall.WSAECONNRESET, syscall.WSAECONNABORTED, syscall.Errno(10058)} // WSAESHUTDOWN
	crowded    = []error{syscall.Errno(10035)}                                                 // WSAEWOULDBLOCK
	brokenPipe = []error{syscall.ERROR_BROKEN_PIPE, syscall.Errno(232)}                        // ERROR_NO_DATA
	busy       = []error{syscall.Errno(10048)}                                                 // WSAEADDRINUSE
	denied     = []error{syscall.WSAEACCES, syscall.ERROR_ACCESS_DENIED}
	noSockets  = []error{syscall.Errno(10047)}                       // WSAEAFNOSUPPORT
	noStream   = []error{syscall.Errno(10038), syscall.Errno(10041)} // WSAENOTSOCK, WSAEPROTOTYPE
)

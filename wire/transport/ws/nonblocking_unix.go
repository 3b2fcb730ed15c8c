//go:build unix

package ws

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblockingWrite is the state of a connection for nonblocking writes.
type nonblockingWrite struct {
	raw   syscall.RawConn
	none  bool // the connection has no descriptor
	wrote int
	err   error
	try   func(fd uintptr) bool
}

// writeNonblocking writes as much of n.out as the system accepts without blocking. Flush writes the rest, and reports
// errors.
func (n *wsNet) writeNonblocking() {
	a := &n.now
	if a.raw == nil && !a.none {
		c, ok := n.Conn.(syscall.Conn)
		if ok {
			a.raw, a.err = c.SyscallConn()
		}
		if a.none = !ok || a.err != nil; !a.none {
			a.try = func(fd uintptr) bool {
				a.wrote, a.err = unix.Write(int(fd), n.out)
				return true
			}
		}
	}
	if a.none {
		return
	}
	if a.raw.Write(a.try) != nil || a.err != nil {
		return
	}
	n.out = n.out[:copy(n.out, n.out[a.wrote:])]
}

//go:build unix

package transport

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// atOnce is what a write without waiting needs, made once.
type atOnce struct {
	raw   syscall.RawConn
	none  bool // the connection has no descriptor of its own
	wrote int
	err   error
	try   func(fd uintptr) bool
}

// writeAtOnce writes what the system takes at once, and leaves the rest, with whatever is
// wrong, to Flush.
func (n *wsNet) writeAtOnce() {
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

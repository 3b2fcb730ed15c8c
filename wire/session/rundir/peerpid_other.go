//go:build !linux

package rundir

import "net"

// PeerPID returns 0, because this system does not name the process.
func PeerPID(net.Conn) int { return 0 }

// stopped returns false, because this system does not report it.
func stopped(int) bool { return false }

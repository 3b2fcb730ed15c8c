//go:build !linux

package rundir

import "net"

// PeerPID returns 0, because this system does not provide the process id.
func PeerPID(net.Conn) int { return 0 }

// stopped returns false, because it cannot be found out on this system.
func stopped(int) bool { return false }

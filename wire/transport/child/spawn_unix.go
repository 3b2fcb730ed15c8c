//go:build unix && !linux

package child

import "syscall"

// processGroup puts the child into a group of its own. Only Linux can kill the child when this process is killed. On
// other systems, the child notices that its stdin ends.
func processGroup(attr *syscall.SysProcAttr) {
	attr.Setpgid = true
}

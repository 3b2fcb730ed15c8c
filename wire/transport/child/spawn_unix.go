//go:build unix && !linux

package child

import "syscall"

// processGroup puts a child into its own group. Only Linux can kill the child together with this process. On other
// systems, the child notices the end of its stdin.
func processGroup(attr *syscall.SysProcAttr) {
	attr.Setpgid = true
}

//go:build unix && !linux

package child

import "syscall"

// processGroup puts a child into its own group. Only Linux can kill it together with this process; elsewhere the child
// notices by the end of its stdin.
func processGroup(attr *syscall.SysProcAttr) {
	attr.Setpgid = true
}

//go:build unix && !linux

package child

import "syscall"

// processGroup puts a child into its own group. Only Linux can kill it together with this process. On other systems,
// the child notices because its stdin ends.
func processGroup(attr *syscall.SysProcAttr) {
	attr.Setpgid = true
}

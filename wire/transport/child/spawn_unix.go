//go:build unix && !linux

package child

import "syscall"

// processGroup puts a child into a group of its own. Only Linux can have it
// killed together with us; elsewhere the end of its stdin must do.
func processGroup(attr *syscall.SysProcAttr) {
	attr.Setpgid = true
}

package child

import "syscall"

// processGroup puts a child into a group of its own, and has the system kill it
// when we are killed. Its own children learn of that by the end of their stdin.
func processGroup(attr *syscall.SysProcAttr) {
	attr.Setpgid = true
	attr.Pdeathsig = syscall.SIGKILL
}

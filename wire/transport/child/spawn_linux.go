package child

import "syscall"

// processGroup puts the child into a group of its own. If this process is killed, the system kills the child. The
// child's own children notice that their stdin ends.
func processGroup(attr *syscall.SysProcAttr) {
	attr.Setpgid = true
	attr.Pdeathsig = syscall.SIGKILL
}

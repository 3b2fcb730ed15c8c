package child

import "syscall"

// processGroup puts a child into its own group, and lets the system kill the child if this process is killed. The
// child's own children notice the end of their stdin.
func processGroup(attr *syscall.SysProcAttr) {
	attr.Setpgid = true
	attr.Pdeathsig = syscall.SIGKILL
}

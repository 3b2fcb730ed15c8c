package child

import "syscall"

// processGroup puts a child into its own group, and has the system kill it when this process is killed. Its children
// notice that because their stdin ends.
func processGroup(attr *syscall.SysProcAttr) {
	attr.Setpgid = true
	attr.Pdeathsig = syscall.SIGKILL
}

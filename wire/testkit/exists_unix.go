//go:build unix

package testkit

import "syscall"

// exists reports whether there is a process with the id pid.
func exists(pid int) bool { return syscall.Kill(pid, 0) == nil }

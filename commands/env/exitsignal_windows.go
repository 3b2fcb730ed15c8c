package env

import "syscall"

// signalSelf cannot: no signal ends a process here, its status alone tells.
func signalSelf(syscall.Signal) bool { return false }

package env

import "syscall"

// signalSelf returns false, because Windows has no such signals.
func signalSelf(syscall.Signal) bool { return false }

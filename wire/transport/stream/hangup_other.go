//go:build !linux

package stream

// hungUp is not supported on this system.
func hungUp(uintptr) bool { return false }

// farEnd is not supported on this system.
func farEnd(uintptr) (silent, gone bool) { return false, false }

//go:build !linux

package stream

// hungUp is not available on this system.
func hungUp(uintptr) bool { return false }

// farEnd is not available on this system.
func farEnd(uintptr) (silent, gone bool) { return false, false }

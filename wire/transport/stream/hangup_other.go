//go:build !linux

package stream

// hungUp returns false, because this system does not support the test.
func hungUp(uintptr) bool { return false }

// farEnd returns false, because this system does not support the test.
func farEnd(uintptr) (silent, gone bool) { return false, false }

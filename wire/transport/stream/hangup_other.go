//go:build !linux

package stream

// hungUp returns false, because this system does not support the test.
func hungUp(uintptr) bool { return false }

// closeState returns false, because this system does not support the test.
func closeState(uintptr) (halfClosed, closed bool) { return false, false }

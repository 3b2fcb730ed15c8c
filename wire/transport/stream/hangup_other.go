//go:build !linux

package stream

// hungUp cannot tell here whether the peer still reads.
func hungUp(uintptr) bool { return false }

// farEnd cannot tell here whether the peer has ended.
func farEnd(uintptr) (silent, gone bool) { return false, false }

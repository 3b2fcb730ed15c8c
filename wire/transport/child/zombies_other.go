//go:build !linux

package child

// groupIsDead reports whether all that is left of a process group only waits to
// be reaped: only Linux tells.
func groupIsDead(int) bool { return false }

//go:build !unix

package scratch

import "os"

// ours returns false: this system cannot tell whether the owner of a directory is still running.
func ours(string) bool { return false }

// lock does nothing, because file locks are not supported on this system.
func lock(*os.File) bool { return false }

//go:build unix

package format

import "os"

// obeys reports whether a terminal of which TERM says nothing obeys escape sequences.
func obeys(*os.File) bool { return false }

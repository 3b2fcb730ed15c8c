//go:build unix

package format

import "os"

// obeys reports whether a terminal supports escape sequences that TERM does not indicate.
func obeys(*os.File) bool { return false }

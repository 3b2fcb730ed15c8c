//go:build unix

package format

import "os"

// obeys reports whether a terminal supports escape sequences although TERM does not show this.
func obeys(*os.File) bool { return false }

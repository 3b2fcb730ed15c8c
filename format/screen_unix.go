//go:build unix

package format

import "os"

// obeys returns false, because on Unix only TERM shows whether a terminal interprets escape sequences.
func obeys(*os.File) bool { return false }

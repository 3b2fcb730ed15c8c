package recorder

import "os"

// lock does nothing: Windows refuses a second writer by itself.
func lock(*os.File) bool { return true }

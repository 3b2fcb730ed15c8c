package recorder

import "os"

// lock does nothing, because Windows does not let a second recorder open the file for writing.
func lock(*os.File) bool { return true }

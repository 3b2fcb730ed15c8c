package recorder

import "os"

// lock does nothing, because Windows itself refuses a second writer.
func lock(*os.File) bool { return true }

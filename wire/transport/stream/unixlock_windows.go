package stream

// socketsMove is false, because a socket must be created at its final path.
const socketsMove = false

// lockFolder does nothing, because on Windows only one process can bind a path.
func lockFolder(string) (unlock func()) { return func() {} }

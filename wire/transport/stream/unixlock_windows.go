package stream

// socketsMove is false: a socket must be bound at its final path.
const socketsMove = false

// lockFolder does nothing, because Windows lets only one process bind a path.
func lockFolder(string) (unlock func()) { return func() {} }

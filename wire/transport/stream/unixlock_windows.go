package stream

// socketsMove is false, because a socket has to be bound at its final name.
const socketsMove = false

// lockFolder does nothing, because Windows lets only one process bind a name.
func lockFolder(string) (unlock func()) { return func() {} }

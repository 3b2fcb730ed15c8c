package ws

// nonblockingWrite is not used on Windows.
type nonblockingWrite struct{}

// writeNonblocking does nothing, so that Flush writes all bytes.
func (n *wsNet) writeNonblocking() {}

package ws

// nonblockingWrite is unused on this system.
type nonblockingWrite struct{}

// writeNonblocking writes nothing, so that Flush writes all bytes.
func (n *wsNet) writeNonblocking() {}

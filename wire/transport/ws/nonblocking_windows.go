package ws

// nonblockingWrite is unused on this system.
type nonblockingWrite struct{}

// writeNonblocking leaves everything to Flush.
func (n *wsNet) writeNonblocking() {}

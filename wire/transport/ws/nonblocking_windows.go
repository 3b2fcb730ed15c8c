package ws

// nonblockingWrite is nothing here.
type nonblockingWrite struct{}

// writeNonblocking leaves everything to Flush.
func (n *wsNet) writeNonblocking() {}

package transport

// atOnce is nothing here.
type atOnce struct{}

// writeAtOnce leaves everything to Flush.
func (n *wsNet) writeAtOnce() {}

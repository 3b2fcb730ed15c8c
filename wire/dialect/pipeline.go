package dialect

import "rpcx/wire"

// A CallPipeline keeps many calls in flight at little cost each: a call has no Stream as long as it
// gets one plain answer, as most do. See peer.Peer.Pipeline.
type CallPipeline interface {
	// Send prepares the request of a call, which is written with Flush. It returns false if the pipeline cannot take the call,
	// because the connection is busy or the dialect needs more than one message for it: then the caller tries again after Flush,
	// or opens the call as a Stream. Send and Flush are called by one goroutine at a time.
	Send(op *Op, c PipelinedCall) bool
	// Flush writes the requests of Send. It does not block: what cannot be written at once is written by another goroutine.
	Flush()
	// Promote gives a call that has not been answered a Stream, which its Opened gets. A nil call
	// stands for all calls of the pipeline.
	Promote(c PipelinedCall)
}

// A PipelinedCall is one call of a CallPipeline. The peer calls its methods while it holds its
// lock, so they must neither block nor call the peer.
type PipelinedCall interface {
	// Answered gets the one answer, which is valid during the call of Answered. It returns
	// false if it cannot use the answer: then Opened is called. After true the call is over.
	Answered(m *wire.Message) bool
	// Opened gets the call's Stream, if the answer is not plain or the connection ends.
	Opened(st Stream)
}

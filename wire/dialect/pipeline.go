package dialect

import "rpcx/wire"

// A CallPipeline keeps many calls in flight at low cost: a call has no Stream if it gets one plain answer, as most do.
// See peer.Peer.Pipeline.
type CallPipeline interface {
	// Send prepares the request of a call, which is written with Flush. It returns false if the pipeline cannot accept
	// the call, because the connection is busy or the dialect needs several messages for it. The caller then tries
	// again after Flush, or opens the call as a Stream. Send and Flush are called by one goroutine at a time.
	Send(op *Op, c PipelinedCall) bool
	// Flush writes the requests of Send. It does not block: another goroutine writes what cannot be written at once.
	Flush()
	// Promote gives a Stream to a call without an answer. The call's Opened receives the Stream. A nil call stands for
	// all calls of the pipeline.
	Promote(c PipelinedCall)
}

// A PipelinedCall is one call of a CallPipeline. The peer calls its methods while it holds its lock, so that they must
// not block or call the peer.
type PipelinedCall interface {
	// Answered receives the only answer, which is valid until Answered returns. It returns false if it cannot use the
	// answer. Opened is then called. After true, the call is over.
	Answered(m *wire.Message) bool
	// Opened receives the call's Stream if the answer is not plain or the connection ends.
	Opened(st Stream)
}

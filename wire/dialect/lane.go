package dialect

import "rpcx/wire"

// A Lane makes many calls, most of which have one plain answer, without a Stream for each
// of them. See peer.Peer.Lane.
type Lane interface {
	// Send, and Flush, are called by one goroutine at a time. Send puts a call on its way; false: it has to be opened as others are, now or when
	// the connection takes more. What is sent leaves with Flush.
	Send(op *Op, c LaneCall) bool
	// Flush has what was sent written. It does not wait.
	Flush()
	// Take makes a call like others, nil: all of them. Where it has not been answered its
	// Opened is called.
	Take(c LaneCall)
}

// A LaneCall is one call of a Lane. The peer calls its methods under its lock, so they
// must neither wait nor call back.
type LaneCall interface {
	// Answered takes the one answer, which is valid during the call; false: Opened is
	// called instead. When it has been taken the peer has forgotten the call.
	Answered(m *wire.Message) bool
	// Opened takes the call's stream: its answer is not plain, or the connection ends.
	Opened(st Stream)
}

// A CallAppender is a Codec whose calls have whole numbers as ids and no more than one
// answer: for a Call, Opened returns nil and true, whatever is answered.
type CallAppender interface {
	// AppendCall appends the message that Encode returns for op, a Call, and returns the
	// number that is its id. Where Encode would fail, or does more than write the message,
	// ok is false, and nothing happened.
	AppendCall(b []byte, op *Op) (msg []byte, id int64, ok bool)
}

package wire

// The following interfaces are optional: a Conn, or its byte stream, implements those that it supports. A wrapper
// forwards them.

// A WriteCloser is a byte stream that can close its sending direction and continue to read.
type WriteCloser interface {
	CloseWrite() error
}

// A ReadCloser can make reads return io.EOF after the bytes that have already arrived.
type ReadCloser interface {
	CloseRead() error
}

// A PeerWatcher detects that the peer has closed the connection.
type PeerWatcher interface {
	// PeerClosed returns a channel that is closed when the peer stops reading. It returns nil if the system cannot
	// report this.
	PeerClosed() <-chan struct{}
}

// A PeerState reports, without reading, how far the peer has closed the connection.
type PeerState interface {
	// CloseState reports whether the peer has closed its sending direction, and whether it has closed both.
	CloseState() (halfClosed, closed bool)
}

// An Exiter is a byte stream to a child, which may exit later than its output ends.
type Exiter interface {
	// Exited waits until the child exits or the stream is closed, and returns how, as a *CloseError.
	Exited() error
}

// A Remote is a connection with a remote address.
type Remote interface {
	// Remote returns the address, or "".
	Remote() string
}

// A Flusher buffers bytes until Flush, which cannot fail.
type Flusher interface {
	Flush()
}

// A Holder is a Conn whose Send accepts messages and writes them later.
type Holder interface {
	// OnHold sets a function that receives the number of bytes of each accepted message, and after the write the same
	// number, negative. OnHold must precede the first Send.
	OnHold(hold func(bytes int))
}

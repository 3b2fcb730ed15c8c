package wire

// The interfaces below are optional: a Conn, or the stream of bytes below it, implements those that it supports. A
// wrapper of such a value passes on the interfaces that it knows.

// A WriteCloser is a stream of bytes that can close its sending direction while it can still be read.
type WriteCloser interface {
	CloseWrite() error
}

// A ReadCloser can make reads return io.EOF after the bytes that have arrived.
type ReadCloser interface {
	CloseRead() error
}

// A PeerWatcher detects that the peer has closed the connection.
type PeerWatcher interface {
	// PeerClosed returns a channel that is closed when the peer stops reading, if the system reports that. Otherwise it
	// returns nil.
	PeerClosed() <-chan struct{}
}

// A PeerState reports how far the peer has closed the connection, without a read.
type PeerState interface {
	// FarEnd reports whether the peer has closed its sending direction, and whether it has closed both.
	FarEnd() (silent, gone bool)
}

// A Remote knows the address of the peer.
type Remote interface {
	// Remote returns the address, or "" if there is none.
	Remote() string
}

// A Flusher keeps bytes until Flush, which cannot fail.
type Flusher interface {
	Flush()
}

// An IdleCloser is an http.RoundTripper that can close its idle connections.
type IdleCloser interface {
	CloseIdleConnections()
}

// Holder is a Conn whose Send accepts messages and writes them later.
type Holder interface {
	// OnHold sets the function that is called with the number of bytes that wait to be written, and with the negated
	// number when they are written. OnHold must be called before the first Send.
	OnHold(hold func(bytes int))
}

package wire

// The interfaces below are optional: a Conn or the stream of bytes below it implements those that it
// can. What wraps such a value passes on those that it knows.

// A WriteCloser is a stream of bytes that can end its sending direction and still be read.
type WriteCloser interface {
	CloseWrite() error
}

// A ReadCloser can make reads return io.EOF after the bytes that have arrived.
type ReadCloser interface {
	CloseRead() error
}

// A PeerWatcher notices that the peer has closed the connection.
type PeerWatcher interface {
	// PeerClosed returns a channel that is closed when the peer stops reading, as far as the system reports it, or nil
	// if it cannot.
	PeerClosed() <-chan struct{}
}

// A PeerState reports, without a read, how far the peer has closed the connection.
type PeerState interface {
	// FarEnd reports whether the peer has closed its sending direction, and whether it has closed both.
	FarEnd() (silent, gone bool)
}

// A Remote knows the address of the peer.
type Remote interface {
	// Remote returns the address, or "" if there is none.
	Remote() string
}

// A Flusher holds bytes back until Flush, which cannot fail.
type Flusher interface {
	Flush()
}

// An IdleCloser is an http.RoundTripper that can close connections which it keeps for later.
type IdleCloser interface {
	CloseIdleConnections()
}

// Holder is a Conn whose Send takes messages that it writes later.
type Holder interface {
	// OnHold has hold called with the bytes that wait to be written, and with their negative when they are. It is called
	// before the first Send.
	OnHold(hold func(bytes int))
}

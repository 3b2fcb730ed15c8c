package wire

import "time"

// A Fact is a detail that -v prints about how a connection was opened, is used or has ended. It contains no secrets.
// Text from the peer is not yet escaped.
type Fact struct {
	Step  string        // one word, such as "connected" or "tls"
	Text  string        // one line
	Lines []string      // additional lines, such as those of an HTTP head
	At    string        // the connection's address, or ""
	Who   string        // the client of a listener, or "" for the peer
	Took  time.Duration // the duration of the step, or 0
}

// A Piece is the data of one read or write, for -vv: a WebSocket frame, a part of an HTTP body, or bytes of a stream,
// before or after TLS.
type Piece struct {
	Who   string // as in Fact
	Dir   Direction
	Frame string // the kind of data, such as "text frame, masked", or "" for bytes of a stream
	Size  int    // in bytes
	Shown []byte // the redacted start of the data
}

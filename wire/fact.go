package wire

import "time"

// A Fact is one piece of information for -v about how a connection was opened, is used or has ended. It holds no
// secrets. Text of the peer in it is not escaped for a terminal.
type Fact struct {
	Step  string        // one word for its subject, such as "connected" or "tls"
	Text  string        // one line
	Lines []string      // further lines, such as those of an HTTP head
	At    string        // the address of the connection; "" if the Fact is not about a connection
	Who   string        // the client of a listener; "" for the peer
	Took  time.Duration // how long the step took; 0 if it took no time
}

// A Piece is the data of one write to or read from the peer, for -vv: a WebSocket frame, a part of an HTTP body, or
// bytes of a stream, before or after TLS.
type Piece struct {
	Who   string // as in Fact
	Dir   Direction
	Frame string // the kind of data, such as "text frame, masked"; "" for bytes of a stream
	Size  int    // in bytes
	Shown []byte // the beginning of the data, without its secrets
}

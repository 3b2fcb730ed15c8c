package wire

import "time"

// A Fact is one piece of information, for -v, about how a connection was made, is used or has
// ended. It holds no secrets. Text from the peer in it is not escaped for a terminal.
type Fact struct {
	Step  string        // one word for its subject, such as "connected" or "tls"
	Text  string        // one line
	Lines []string      // further lines, such as those of an HTTP head
	At    string        // the address that was connected to; "" means the Fact is not about a connection
	Who   string        // the client of a listener that it is about; "" means the peer
	Took  time.Duration // how long the step took; 0 means it took no time
}

// A Piece is what was written to the peer or read from it with one call, for -vv: a WebSocket
// frame, a part of an HTTP body, or bytes of a stream, before or after TLS.
type Piece struct {
	Who   string // as in Fact
	Dir   Direction
	Frame string // what it is, such as "text frame, masked"; "" means bytes of a stream
	Size  int    // in bytes
	Shown []byte // the beginning of it, without its secrets
}

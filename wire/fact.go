package wire

import "time"

// A Fact is one thing to know of how a connection comes about, goes on or ends, without its secrets. What the far side
// said in it is not made fit for a terminal.
type Fact struct {
	Step  string        // one word for what it is about, such as "connected" or "tls"
	Text  string        // one line
	Lines []string      // what belongs to it, such as the lines of a head
	At    string        // the address that was connected to; "": it tells of no connection
	Who   string        // the client of a listener that it is about; "": the peer
	Took  time.Duration // how long it took; 0: it is nothing that lasts
}

// A Piece is what was written to the far side or read from it: a WebSocket frame, a part of a body of HTTP, or bytes of a
// stream, before TLS or after it.
type Piece struct {
	Who   string // as in Fact
	Dir   Direction
	Frame string // what it is, such as "text frame, masked"; "": bytes of a stream
	Size  int    // in bytes
	Shown []byte // the beginning of it, without its secrets
}

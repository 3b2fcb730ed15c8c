package httpclient

import (
	"net"
	"sync/atomic"
)

// An eofNoter records the end of its input. net/http does not distinguish a head that is cut off inside a line from a
// malformed one.
type eofNoter struct {
	net.Conn
	ended atomic.Bool
}

// Read implements io.Reader.
func (e *eofNoter) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	if err != nil {
		e.ended.Store(true)
	}
	return n, err
}

// atEnd reports whether the input has ended. It returns false if e is nil.
func (e *eofNoter) atEnd() bool { return e != nil && e.ended.Load() }

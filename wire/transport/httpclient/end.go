package httpclient

import (
	"net"
	"sync/atomic"
)

// An eofNoter notes that nothing more comes. net/http does not tell a head that was cut
// off inside a line from one that is malformed.
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

// atEnd reports whether nothing more comes; false if e is nil.
func (e *eofNoter) atEnd() bool { return e != nil && e.ended.Load() }

package validate

import (
	"testing"

	"rpcx/wire"
)

// closing is a connection that stores the code with which it was closed.
type closing struct {
	wire.Conn
	code int
}

func (c *closing) CloseWith(code int, _ string) error { c.code = code; return nil }

// A client that is disconnected with a code has also disconnected.
func TestCloseNotifier(t *testing.T) {
	ended := 0
	conn := &closing{}
	l := &closeNotifier{conn, func() { ended++ }}
	if err := wire.CloseWith(l, 1002, "x"); err != nil || conn.code != 1002 || ended != 1 {
		t.Error(conn.code, ended, err)
	}
}

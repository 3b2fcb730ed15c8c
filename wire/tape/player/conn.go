package player

import (
	"bytes"

	"rpcx/wire"
)

// An arrival is a message, or the end, that a connection's reader hands over.
type arrival struct {
	conn *conn
	msg  []byte
	err  error // the connection is over
}

// A conn is one live connection.
type conn struct {
	wire.Conn
	exchanger wire.Exchanger // nil: none
	oneShot   bool
	owed      int  // requests that are not answered yet
	spoke     bool // something came
	ended     bool // nothing more comes
}

// hand gives a to the engine, unless that has ended.
func (e *engine) hand(a arrival) bool {
	select {
	case e.arrived <- a:
		return true
	case <-e.done:
		return false
	}
}

// add takes a connection, and starts to read it.
func (e *engine) add(c wire.Conn) *conn {
	k := &conn{Conn: c}
	k.exchanger, _ = c.(wire.Exchanger)
	_, k.oneShot = c.(wire.OneShot)
	go func() {
		defer wire.Guard()
		for {
			msg, err := c.Recv()
			a := arrival{k, bytes.Clone(msg), err}
			if err == nil && a.msg == nil {
				a.msg = []byte{}
			}
			if !e.hand(a) || err != nil {
				return
			}
		}
	}()
	return k
}

// join makes k part of the conversation.
func (e *engine) join(k *conn) {
	e.conns[k] = true
	if e.current == nil || !e.current.oneShot || k.oneShot {
		e.current = k
	}
}

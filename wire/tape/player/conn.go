package player

import (
	"bytes"

	"rpcx/wire"
)

// An arrival is what other goroutines hand over to the engine's.
type arrival struct {
	conn  *conn
	joins bool // the connection becomes part of the conversation; else a message came
	msg   []byte
	to    wire.ID // the request that got an HTTP error with this message as its text, or nil did
	err   error   // the connection is over, or the POST failed
}

// A conn is one live connection.
type conn struct {
	wire.Conn
	exchanger      wire.Exchanger // nil means none
	singleExchange bool
	owed           int  // how many requests have no answer yet
	spoke          bool // a message came
	ended          bool // nothing more comes
}

// hand passes a to the engine, unless the engine has ended.
func (e *engine) hand(a arrival) bool {
	if e.o.Tap != nil && a.msg != nil {
		e.o.Tap(wire.Recv, a.msg)
	}
	select {
	case e.arrived <- a:
		return true
	case <-e.done:
		return false
	}
}

// add adds a connection and starts to read it.
func (e *engine) add(c wire.Conn) *conn {
	k := &conn{Conn: c}
	k.exchanger, _ = c.(wire.Exchanger)
	_, k.singleExchange = c.(wire.SingleExchange)
	go func() {
		defer wire.Guard()
		for {
			msg, err := c.Recv()
			a := arrival{conn: k, msg: bytes.Clone(msg), err: err}
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
	if e.current == nil || !e.current.singleExchange || k.singleExchange {
		e.current = k
	}
}

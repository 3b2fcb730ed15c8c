package player

import (
	"bytes"

	"rpcx/wire"
)

// An arrival is an event that other goroutines pass to the engine's goroutine.
type arrival struct {
	conn  *conn
	joins bool // the connection joins the conversation; otherwise a message arrived
	msg   []byte
	to    wire.ID // the request that received an HTTP error with this message as its text, or nil
	err   error   // the connection has ended, or the POST failed
	again *asked  // a request to send again
}

// A conn is one live connection.
type conn struct {
	wire.Conn
	exchanger      wire.Exchanger // nil if the connection is not an Exchanger
	session        *session       // of an exchanger with sessions; else nil
	singleExchange bool
	owed           int  // the number of requests without a response
	spoke          bool // a message has arrived
	ended          bool // no more messages will arrive
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

// add adds a connection and starts reading from it.
func (e *engine) add(c wire.Conn) *conn {
	k := &conn{Conn: c}
	k.exchanger, _ = c.(wire.Exchanger)
	k.session = newSession(c)
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

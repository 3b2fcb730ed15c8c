package player

import (
	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/transcript"
)

// A conn is one live connection.
type conn struct {
	wire.Conn
	exchanger      wire.Exchanger // nil if the connection is not an exchanger
	session        *session       // nil unless the connection is an exchanger with sessions
	singleExchange bool
	owed           int  // how many requests have no response yet
	received       bool // a message has arrived
	ended          bool // no more messages will arrive
}

// hand makes the engine call event on its goroutine, if the engine is still running. over is set if the conversation must end.
func (e *engine) hand(event func() (over bool)) bool {
	select {
	case e.arrived <- event:
		return true
	case <-e.done:
		return false
	}
}

// handMessage passes a copy of a message to the engine if that is still running. to is the request that was answered with an HTTP error
// of this text, or nil.
func (e *engine) handMessage(c *conn, msg []byte, to wire.ID) bool {
	msg = append([]byte{}, msg...) // which is not nil
	if e.o.Tap != nil {
		e.o.Tap(wire.Recv, msg)
	}
	return e.hand(func() bool {
		e.take(c, msg, to)
		return false
	})
}

// A Noise receives the lines of a child that are not messages. Other commands show and skip such lines, but on a tape they belong
// to the conversation.
type Noise struct {
	texts map[string]bool   // those on the tape
	other func(line []byte) // receives all others; may be nil
	take  func(line []byte) // receives those on the tape; set when the conversation begins
}

// NewNoise returns a Noise for a connection of t. It is nil if the server sends nothing on the tape that is not JSON.
func NewNoise(t *transcript.Transcript, track int, other func(line []byte)) *Noise {
	k, texts := t.Tracks[track], map[string]bool{}
	for i := range int32(k.Len()) {
		if e := k.Entry(i); e.Dir == wire.Recv && e.Kind == wire.Invalid && !e.Handwritten {
			if msg, err := k.Message(int(i)); err == nil && scan.Valid(msg, wire.DefaultMaxDepth) != nil {
				texts[string(msg)] = true
			}
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return &Noise{texts: texts, other: other}
}

// Line implements wire.Options.Noise. The goroutine that reads from the connection calls it.
func (n *Noise) Line(line []byte) {
	if n.texts[string(line)] {
		n.take(line)
	} else if n.other != nil {
		n.other(line)
	}
}

// add adds a connection and starts its reader.
func (e *engine) add(c wire.Conn) *conn {
	k := &conn{Conn: c}
	if e.o.Noise != nil {
		e.o.Noise.take = func(line []byte) { e.handMessage(k, line, nil) }
	}
	k.exchanger, _ = c.(wire.Exchanger)
	k.session = newSession(c)
	_, k.singleExchange = c.(wire.SingleExchange)
	go func() {
		defer wire.Guard()
		for {
			msg, err := c.Recv()
			if err != nil {
				e.hand(func() bool { return e.lost(k, err) })
				return
			}
			if !e.handMessage(k, msg, nil) {
				return
			}
		}
	}()
	return k
}

func (e *engine) join(k *conn) {
	e.conns[k] = true
	if e.current == nil || !e.current.singleExchange || k.singleExchange {
		e.current = k
	}
}

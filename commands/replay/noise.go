package replay

import (
	"bytes"
	"net"
	"sync"

	"rpcx/wire"
	"rpcx/wire/tape/player"
	"rpcx/wire/tape/transcript"
)

// A child may print lines that are not messages. Other commands show and skip such lines, but on a tape they belong to the
// conversation.

// noise is a connection to a child. It returns non-message lines as messages if the tape has them.
type noise struct {
	wire.Conn
	texts    map[string]bool   // the non-message lines on the tape
	skip     func(line []byte) // receives the other lines
	incoming chan received
	done     chan struct{}
	once     sync.Once
}

type received struct {
	msg []byte
	err error
}

// newNoise returns the noise of a connection of t, or nil if the tape has no such lines.
func newNoise(t *transcript.Transcript, track int, skip func(line []byte)) *noise {
	texts := player.Texts(t, track)
	if len(texts) == 0 {
		return nil
	}
	return &noise{texts: texts, skip: skip, incoming: make(chan received), done: make(chan struct{})}
}

// line handles each line that is not a message; it is wire.Options.Noise.
func (n *noise) line(line []byte) {
	if n.texts[string(line)] {
		n.deliver(received{msg: bytes.Clone(line)})
	} else if n.skip != nil {
		n.skip(line)
	}
}

// wrap makes n wrap the connection c.
func (n *noise) wrap(c wire.Conn) *noise {
	n.Conn = c
	go func() {
		defer wire.Guard()
		for {
			msg, err := c.Recv()
			if !n.deliver(received{bytes.Clone(msg), err}) || err != nil {
				return
			}
		}
	}()
	return n
}

func (n *noise) deliver(h received) bool {
	select {
	case n.incoming <- h:
		return true
	case <-n.done:
		return false
	}
}

// Recv implements wire.Conn.
func (n *noise) Recv() ([]byte, error) {
	select {
	case h := <-n.incoming:
		return h.msg, h.err
	case <-n.done:
		return nil, net.ErrClosed
	}
}

// Close implements wire.Conn.
func (n *noise) Close() error {
	n.once.Do(func() { close(n.done) })
	return n.Conn.Close()
}

// Package wiretap connects two peers. It forwards and records everything that they send, byte for byte.
package wiretap

import (
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/tape/recorder"
)

// Pass forwards everything between client and server, records it, and closes both connections when both have ended. If both are
// connections of Bytes, it forwards bytes, and framing finds the messages for the tape. Otherwise it forwards whole messages. It
// returns how the server's side ended: nil after a regular end, a Fault if a message could not be sent to the server, and
// otherwise usually a *wire.CloseError. first, which may be nil, receives the first bytes in each direction if both are
// connections of Bytes.
func Pass(client, server wire.Conn, framing wire.Framing, rec *recorder.Conn, first func(d wire.Direction, b []byte)) error {
	p := &pass{sides: [2]wire.Conn{client, server}, rec: rec, first: first, done: make(chan struct{})}
	defer close(p.done)
	one, two := p.messages, p.messages
	if a, ok := client.(*byteConn); ok {
		if b, ok := server.(*byteConn); ok {
			one = func(wire.Conn, wire.Conn, wire.Direction) error { return p.bytes(a, b, framing, wire.Send) }
			two = func(wire.Conn, wire.Conn, wire.Direction) error { return p.bytes(b, a, framing, wire.Recv) }
		}
	}
	var up, down error
	var wg sync.WaitGroup
	wg.Go(func() {
		defer wire.Guard()
		up = one(client, server, wire.Send)
		p.ended(wire.Send, up)
	})
	wg.Go(func() {
		defer wire.Guard()
		down = two(server, client, wire.Recv)
		p.ended(wire.Recv, down)
		if down == io.EOF {
			if down = exit(server); down != io.EOF {
				p.ended(wire.Recv, down)
			}
		}
	})
	wg.Wait()
	if f := wire.AsFault(up); f != nil {
		return f
	}
	if down != io.EOF {
		return down
	}
	if closed, ok := errors.AsType[*wire.CloseError](exit(server)); ok && closed.Child.Exit > 0 { // a signal may be rpcx's own
		return closed // the child exited when its stdin was closed
	}
	return nil
}

// exit waits until a child that has closed its stdout exits, and returns how. Without a child, or if the connection is closed first, it
// returns io.EOF.
func exit(server wire.Conn) error {
	_, err := server.Recv()
	if closed, ok := errors.AsType[*wire.CloseError](err); ok && closed.Child != nil {
		return err
	}
	return io.EOF
}

// A pass is the state of one call of Pass.
type pass struct {
	sides [2]wire.Conn // the client and the server: by the direction in which each sends
	rec   *recorder.Conn
	first func(d wire.Direction, b []byte)
	done  chan struct{} // closed when both directions have ended

	mu   sync.Mutex
	over [2]bool        // the directions that have ended
	who  wire.Direction // the direction that ended first
}

// ended closes the other side after the sender of direction d has ended.
func (p *pass) ended(d wire.Direction, err error) {
	unreached := d == wire.Send && wire.AsFault(err) != nil
	who, both := p.note(d)
	if with, ok := p.sides[wire.Send].(wire.CloserWith); ok && unreached {
		_ = with.CloseWith(CodeUnreached, "the peer cannot be reached")
	}
	other := p.sides[1-d]
	if half, ok := other.(wire.HalfCloser); ok && err == io.EOF && !both {
		_ = half.CloseSend()
		p.watch(d)
		return
	}
	p.rec.Ended(who, err)
	closeAs(other, err)
	if both || err != io.EOF {
		p.close()
	}
}

// note records that direction d has ended. It returns the direction that ended first, and whether both have ended.
func (p *pass) note(d wire.Direction) (who wire.Direction, both bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over[d] = true
	if both = p.over[0] && p.over[1]; !both {
		p.who = d
	}
	return p.who, both
}

func (p *pass) close() {
	_ = p.sides[0].Close()
	_ = p.sides[1].Close()
}

// watch closes the connection when a side that has stopped sending also stops reading.
func (p *pass) watch(d wire.Direction) {
	if g, ok := p.sides[d].(wire.PeerWatcher); ok {
		go func() {
			select {
			case <-g.PeerClosed():
			case <-p.done:
				return
			}
			p.rec.Ended(d, io.EOF)
			p.close()
		}()
	}
}

// CodeUnreached is the close code "bad gateway", which means that the server cannot be reached.
const CodeUnreached = 1014

// closeAs closes c with the code and the reason that the other side has sent.
func closeAs(c wire.Conn, err error) {
	closed, how := errors.AsType[*wire.CloseError](err)
	if with, ok := c.(wire.CloserWith); ok && how && sendable(closed.Code) {
		_ = with.CloseWith(closed.Code, closed.Reason)
		return
	}
	_ = c.Close()
}

// sendable reports whether this close code may be sent on a WebSocket (RFC 6455, section 7.4).
func sendable(code int) bool {
	return code >= 1000 && code < 5000 && code != 1004 && code != 1005 && code != 1006 && code != 1015
}

// messages forwards messages until from ends, and returns the error with which it ended. Messages that have arrived together are
// sent together.
func (p *pass) messages(from, to wire.Conn, d wire.Direction) error {
	send, flush := to.Send, func() error { return nil }
	if b, ok := to.(wire.Batcher); ok {
		if i, ok := from.(wire.Idler); ok {
			send, flush = b.SendBuffered, b.Flush
			i.OnIdle(func() { _ = b.Flush() })
		}
	}
	if b, ok := to.(wire.BinarySender); ok {
		text := send
		send = func(msg []byte) error {
			if utf8.Valid(msg) {
				return text(msg)
			}
			return b.SendBinary(msg)
		}
	}
	var more [][]byte
	for {
		msg, err := from.Recv()
		if err != nil {
			_ = flush()
			return err
		}
		more = buffered(from, more)
		p.rec.Messages(d, msg, more...)
		err = send(msg)
		for i := 0; i < len(more) && err == nil; i++ {
			err = send(more[i])
		}
		if err != nil {
			return sendError(err)
		}
	}
}

// maxTogether is how many messages are sent together, at most.
const maxTogether = 256

// buffered returns the messages that conn has already read, in the memory of msgs.
func buffered(conn wire.Conn, msgs [][]byte) [][]byte {
	if c, ok := conn.(wire.Buffered); ok {
		return c.Buffered(msgs[:0], maxTogether)
	}
	return nil
}

// sendError returns why the other side accepts no more messages.
func sendError(err error) error {
	if closed, ok := errors.AsType[*wire.CloseError](err); ok {
		return closed
	}
	return &wire.CloseError{Err: err}
}

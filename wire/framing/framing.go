// Package framing splits byte streams into messages, in seven ways:
//
//	line       one message on each line (NDJSON)
//	header     a Content-Length header, an empty line, the message
//	nul        the message, NUL
//	seq        RS, the message, LF (RFC 7464)
//	netstring  the length in digits, a colon, the message, a comma
//	varint     the length as unsigned LEB128, the message
//	concat     reads values that delimit themselves, writes one on each line
//
// Messages have no surrounding blanks. The dialect decides whether a message is valid JSON, because the dialect can
// respond to an invalid one. A framing only separates messages from noise, the lines that a child prints between them:
//
//   - A line that does not begin with { or [ is noise.
//   - With wire.Options.NoiseLimit, a line that begins with [ and is not valid JSON ("[info] listening") is also noise. A
//     line that begins with { is noise if the first key with its colon, or the last bracket, is missing ("{starting}").
//     The framing checks only both ends of an object, because scanning each message twice would be slow.
//   - All other lines that begin with { or [ are messages.
//
// The first noise line above the limit is a Protocol fault.
package framing

import (
	"errors"
	"io"
	"sync"

	"rpcx/wire"
)

// A named framing is a row in the table of framings.
type named struct {
	name    string
	framing wire.Framing
}

// byName contains the framings by their names in endpoints, in the order of the help text. Each Conn is a wire.Idler, a
// wire.Buffered and a wire.Batcher. It is a wire.HalfCloser if rwc has a method CloseWrite() error. Close closes rwc,
// which must unblock its Read and Write, and discards the messages that SendBuffered queued. Recv returns io.EOF,
// *wire.CloseError and *wire.Fault unchanged, and wraps other read errors in a *wire.CloseError.
var byName = []named{
	{"line", Line},
	{"header", Header},
	{"nul", Nul},
	{"seq", Seq},
	{"netstring", Netstring},
	{"varint", Varint},
	{"concat", Concat},
}

// HasHead reports whether the framing with that name writes the lines of wire.Options.Head.
func HasHead(name string) bool { return name == "header" }

// Names returns the names of the framings, as in endpoints.
func Names() []string { return wire.Map(byName, func(f named) string { return f.name }) }

// ByName returns the framing with that name.
func ByName(name string) (wire.Framing, bool) {
	for _, f := range byName {
		if f.name == name {
			return f.framing, true
		}
	}
	return nil, false
}

// A source finds messages in an input. next returns a message or an error.
type source interface {
	next() ([]byte, error)
}

// A bufferedSource is a source that can return a message without reading.
type bufferedSource interface {
	// buffered returns the next message if it has arrived. It leaves noise and invalid messages to next.
	buffered() (msg []byte, ok bool)
}

// conn is the Conn of every framing: a source and an output on one byte stream.
type conn struct {
	output
	in     *input
	src    source
	failed error // the result of all later calls of Recv
	rwc    io.ReadWriteCloser
	once   sync.Once
	closed error
}

// halfConn is a conn whose sending direction can be closed separately.
type halfConn struct{ *conn }

// A socket is a byte stream that reports how far the peer has closed the connection.
type socket interface {
	wire.Remote
	wire.ReadCloser
	wire.PeerState
	wire.PeerWatcher
}

// watchedConn is a halfConn that can detect, after io.EOF from Recv, that the peer has also stopped reading.
type watchedConn struct {
	halfConn
	socket
}

// blankConn is a watchedConn whose framing allows blanks between messages.
type blankConn struct{ watchedConn }

// Probe sends a blank unless a message is being sent.
func (c blankConn) Probe() error { return c.blank() }

func newConn(rwc io.ReadWriteCloser, in *input, src source, w wrap) wire.Conn {
	c := &conn{in: in, src: src, rwc: rwc, output: output{dst: rwc, wrap: w, seen: in.seen}}
	_, half := rwc.(wire.WriteCloser)
	s, watched := rwc.(socket)
	switch {
	case !half:
		return c
	case !watched:
		return halfConn{c}
	case !w.blanks:
		return watchedConn{halfConn{c}, s}
	}
	return blankConn{watchedConn{halfConn{c}, s}}
}

// Recv implements wire.Conn.
func (c *conn) Recv() ([]byte, error) {
	if c.failed == io.EOF {
		if child, ok := c.rwc.(wire.Exiter); ok {
			return nil, child.Exited()
		}
	}
	if c.failed != nil {
		return nil, c.failed
	}
	c.in.settle()
	c.in.skipMark()
	msg, err := c.src.next()
	c.failed = err
	return msg, err
}

// Unread returns the bytes after the last message from Recv. After an error, they begin with the message that caused
// it.
func (c *conn) Unread() []byte { return c.in.window() }

// Buffered implements wire.Buffered.
func (c *conn) Buffered(msgs [][]byte, most int) [][]byte {
	src, ok := c.src.(bufferedSource)
	for ok && len(msgs) < most && c.failed == nil && !c.in.closed.Load() {
		var msg []byte
		if msg, ok = src.buffered(); ok {
			msgs = append(msgs, msg)
		}
	}
	return msgs
}

// OnIdle implements wire.Idler.
func (c *conn) OnIdle(f func()) { c.in.idle = f }

// Close implements wire.Conn.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.in.closed.Store(true)
		c.closed = c.rwc.Close()
	})
	return c.closed
}

// CloseSend implements wire.HalfCloser.
func (c halfConn) CloseSend() error {
	if err := c.Flush(); err != nil {
		return err
	}
	return closeError(c.rwc.(wire.WriteCloser).CloseWrite())
}

// closeError converts an error of the byte stream to an error of the Conn.
func closeError(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if _, closed := errors.AsType[*wire.CloseError](err); closed || wire.AsFault(err) != nil {
		return err
	}
	return &wire.CloseError{Err: err}
}

// Package framing splits streams of bytes into messages, in seven ways:
//
//	line    a message is a line (NDJSON)
//	header  Content-Length headers, an empty line, the message
//	nul     a message ends with a NUL
//	seq a message is between RS and LF (RFC 7464)
//	netstring  a length in digits, a colon, the message, a comma
//	varint  a length as unsigned LEB128, the message
//	concat  reads values that delimit themselves, writes one per line
//
// Messages have no surrounding blanks. The dialect decides whether a message is valid JSON, because the dialect can
// respond to an invalid one. A framing only separates messages from noise, the lines that a child prints between them:
//
//   - A line that does not begin with { or [ is noise.
//   - With wire.Options.NoiseLimit, a line that begins with [ and is not valid JSON ("[info] listening") is also noise. A
//     line that begins with { is noise if it lacks the first key with its colon, or the last bracket ("{starting}"). The
//     framing checks only both ends of an object, because a second scan of each message would be slow.
//     All other lines that begin with { or [ are messages.
//
// The first noise line above the limit is a Protocol fault.
package framing

import (
	"errors"
	"io"
	"sync"

	"rpcx/wire"
)

// These are the framings. Each Conn is a wire.Idler, a wire.Buffered and a wire.Batcher. It is a wire.HalfCloser if rwc
// has a method CloseWrite() error. Close closes rwc, which must unblock its Read and Write, and discards the messages
// that SendBuffered queued. Recv returns io.EOF, *wire.CloseError and *wire.Fault unchanged, and wraps other read
// errors in a *wire.CloseError.
var (
	_ wire.Framing = Line
	_ wire.Framing = Header
	_ wire.Framing = Nul
	_ wire.Framing = Seq
	_ wire.Framing = Netstring
	_ wire.Framing = Varint
	_ wire.Framing = Concat
)

// byName has the order of the help.
var byName = []struct {
	name    string
	framing wire.Framing
	head    bool // the framing can write lines before each message (wire.Options.Head)
}{
	{"line", Line, false},
	{"header", Header, true},
	{"nul", Nul, false},
	{"seq", Seq, false},
	{"netstring", Netstring, false},
	{"varint", Varint, false},
	{"concat", Concat, false},
}

// HasHead reports whether the framing name writes the lines of wire.Options.Head.
func HasHead(name string) bool {
	for _, f := range byName {
		if f.name == name {
			return f.head
		}
	}
	return false
}

// Names returns the names of the framings in endpoints.
func Names() []string {
	names := make([]string, 0, len(byName))
	for _, f := range byName {
		names = append(names, f.name)
	}
	return names
}

// ByName returns the framing with that name.
func ByName(name string) (wire.Framing, bool) {
	for _, f := range byName {
		if f.name == name {
			return f.framing, true
		}
	}
	return nil, false
}

// A source finds messages in an input. It returns a message or an error.
type source interface {
	next() ([]byte, error)
}

// A bufferedSource is a source that can return a message without reading.
type bufferedSource interface {
	// buffered returns the next message if it has arrived. It leaves noise and invalid messages to next.
	buffered() (msg []byte, ok bool)
}

// conn is the Conn of every framing: a source and an output on one stream.
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

// goneConn is a halfConn that detects, after io.EOF from Recv, that the peer also stops reading.
type goneConn struct{ halfConn }

// blankConn is a goneConn whose framing allows blanks between messages.
type blankConn struct{ goneConn }

// Probe sends a blank unless a message is being sent.
func (c blankConn) Probe() error { return c.blank() }

func newConn(rwc io.ReadWriteCloser, in *input, src source, w wrap) wire.Conn {
	c := &conn{in: in, src: src, rwc: rwc, output: output{dst: rwc, wrap: w, seen: in.seen}}
	_, half := rwc.(wire.WriteCloser)
	_, gone := rwc.(wire.PeerWatcher)
	switch {
	case !half:
		return c
	case !gone:
		return halfConn{c}
	case !w.blanks:
		return goneConn{halfConn{c}}
	}
	return blankConn{goneConn{halfConn{c}}}
}

// Recv implements wire.Conn.
func (c *conn) Recv() ([]byte, error) {
	if c.failed != nil {
		return nil, c.failed
	}
	c.in.settle()
	msg, err := c.src.next()
	c.failed = err
	return msg, err
}

// Unread returns the bytes after the last message from Recv. After an error, they begin with the message of the error.
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

// Remote returns the peer's address, or "".
func (c goneConn) Remote() string {
	if r, ok := c.rwc.(wire.Remote); ok {
		return r.Remote()
	}
	return ""
}

// CloseRead makes Recv return io.EOF after the received messages.
func (c goneConn) CloseRead() error {
	if r, ok := c.rwc.(wire.ReadCloser); ok {
		return r.CloseRead()
	}
	return errors.ErrUnsupported
}

// FarEnd reports, without reading, whether the peer has closed its sending direction, and whether it has closed both.
func (c goneConn) FarEnd() (silent, gone bool) {
	if r, ok := c.rwc.(wire.PeerState); ok {
		return r.FarEnd()
	}
	return false, false
}

// PeerClosed returns a channel that is closed when the peer stops reading, if the system reports that.
func (c goneConn) PeerClosed() <-chan struct{} { return c.rwc.(wire.PeerWatcher).PeerClosed() }

// closeError converts an error of the stream to an error of a Conn.
func closeError(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	var gone *wire.CloseError
	var fault *wire.Fault
	if errors.As(err, &gone) || errors.As(err, &fault) {
		return err
	}
	return &wire.CloseError{Err: err}
}

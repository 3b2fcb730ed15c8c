// Package framing makes connections out of streams of bytes: seven ways to tell
// where a message ends.
//
//	line    a message is a line (NDJSON)
//	header  Content-Length headers, an empty line, the message
//	nul     a message ends with a NUL
//	seq     a message stands between RS and LF (RFC 7464)
//	netstring  a length in digits, a colon, the message, a comma
//	varint  a length as unsigned LEB128, the message
//	concat  values that delimit themselves are read, a line each is written
//
// A message is handed on without the blanks around it. Whether it is JSON is
// mostly left to the dialect, which can answer what is broken; the framings
// only tell messages from noise, the lines that a child prints beside them:
//
//   - What begins with neither { nor [ is noise.
//   - Where noise is tolerated (wire.Options.NoiseLimit), so is a line that
//     begins like a message and cannot be one: with [ when it is not valid JSON
//     ("[info] listening"), with { when its first key and colon or its last
//     bracket are not there ("{starting}"). That is a cheap look at both ends
//     and no second scan of each message; what is broken in between goes on to
//     the dialect, as does all that begins with { or [ where noise is not
//     tolerated.
//
// The first noise line over the limit is a Protocol fault.
package framing

import (
	"errors"
	"io"
	"sync"

	"rpcx/wire"
)

// The framings. Each Conn is a wire.Idler, a wire.Buffered and a wire.Batcher, and a
// wire.HalfCloser if rwc has a method CloseWrite() error. Close closes rwc,
// which has to unblock its Read and Write; what SendBuffered holds back then is
// lost. A read that ends with neither io.EOF nor a *wire.CloseError or
// *wire.Fault, which are passed on as they are, ends in a *wire.CloseError.
var (
	_ wire.Framing = Line
	_ wire.Framing = Header
	_ wire.Framing = Nul
	_ wire.Framing = Seq
	_ wire.Framing = Netstring
	_ wire.Framing = Varint
	_ wire.Framing = Concat
)

// byName is in the order in which help lists them.
var byName = []struct {
	name    string
	framing wire.Framing
	head    bool // lines can stand before each message (wire.Options.Head)
}{
	{"line", Line, false},
	{"header", Header, true},
	{"nul", Nul, false},
	{"seq", Seq, false},
	{"netstring", Netstring, false},
	{"varint", Varint, false},
	{"concat", Concat, false},
}

// HasHead reports whether the framing of that name writes the lines of
// wire.Options.Head.
func HasHead(name string) bool {
	for _, f := range byName {
		if f.name == name {
			return f.head
		}
	}
	return false
}

// Names lists the framings by the words of an endpoint.
func Names() []string {
	names := make([]string, 0, len(byName))
	for _, f := range byName {
		names = append(names, f.name)
	}
	return names
}

// ByName finds a framing.
func ByName(name string) (wire.Framing, bool) {
	for _, f := range byName {
		if f.name == name {
			return f.framing, true
		}
	}
	return nil, false
}

// A source finds messages in an input. It returns no message without an error.
type source interface {
	next() ([]byte, error)
}

// A bufferedSource is a source that can tell whether a message has come already.
type bufferedSource interface {
	// buffered returns the next message, if that has been read already. What is no plain
	// message it leaves to next.
	buffered() (msg []byte, ok bool)
}

// conn is every framing's Conn: a source and an output over the same bytes.
type conn struct {
	output
	in     *input
	src    source
	failed error // what Recv returned and will return from now on
	rwc    io.ReadWriteCloser
	once   sync.Once
	closed error
}

// halfConn is a conn whose sending side can be ended by itself.
type halfConn struct{ *conn }

// goneConn is a halfConn that can tell, after Recv has returned io.EOF, when
// the far side does not read any more either.
type goneConn struct{ halfConn }

// blankConn is a goneConn between whose messages a blank may stand.
type blankConn struct{ goneConn }

// Probe sends a blank, unless a message is on its way.
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

// Unread returns what has been read and belongs to no message that Recv has returned: where
// Recv has failed, what had come of the message that it failed at.
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

// Remote returns the address of the far side; "" if it has none.
func (c goneConn) Remote() string {
	if r, ok := c.rwc.(wire.Remote); ok {
		return r.Remote()
	}
	return ""
}

// CloseRead has Recv return io.EOF when it has returned what has come so far.
func (c goneConn) CloseRead() error {
	if r, ok := c.rwc.(wire.ReadCloser); ok {
		return r.CloseRead()
	}
	return errors.ErrUnsupported
}

// FarEnd reports, without reading, whether the far side has ended its direction,
// and whether it is gone in both.
func (c goneConn) FarEnd() (silent, gone bool) {
	if r, ok := c.rwc.(wire.PeerState); ok {
		return r.FarEnd()
	}
	return false, false
}

// Gone returns a channel that is closed when the far side reads no more, as far
// as the system tells.
func (c goneConn) Gone() <-chan struct{} { return c.rwc.(wire.PeerWatcher).Gone() }

// closeError makes of an error of the bytes below what a Conn may return.
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

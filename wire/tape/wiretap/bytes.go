package wiretap

import (
	"errors"
	"io"
	"math"
	"slices"
	"time"

	"rpcx/wire"
)

// Bytes is a wire.Framing that does not split bytes into messages. Only Pass can use its connections.
func Bytes(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	return &byteConn{rwc: rwc, o: o}
}

// A byteConn represents a byte stream as a wire.Conn.
type byteConn struct {
	rwc io.ReadWriteCloser
	o   wire.Options
}

var errBytes = errors.New("a stream of bytes has no messages")

// Recv implements wire.Conn. It always fails, because there are no messages. After the end of the stream, it waits until a child that
// has closed its stdout exits.
func (c *byteConn) Recv() ([]byte, error) {
	if child, ok := c.rwc.(wire.Exiter); ok {
		return nil, child.Exited()
	}
	return nil, io.EOF
}

// Send implements wire.Conn. It always fails, because there are no messages.
func (c *byteConn) Send([]byte) error { return errBytes }

// Close implements wire.Conn.
func (c *byteConn) Close() error { return c.rwc.Close() }

// CloseSend implements wire.HalfCloser. If the stream cannot close only its sending direction, CloseSend closes the
// whole stream.
func (c *byteConn) CloseSend() error {
	if half, ok := c.rwc.(wire.WriteCloser); ok {
		return half.CloseWrite()
	}
	return c.rwc.Close()
}

// PeerClosed implements wire.PeerWatcher. If the stream cannot detect that the peer has stopped reading, the channel is
// never closed.
func (c *byteConn) PeerClosed() <-chan struct{} {
	if g, ok := c.rwc.(wire.PeerWatcher); ok {
		return g.PeerClosed()
	}
	return make(chan struct{})
}

// chunk is the maximum number of bytes in one read that is not split into messages.
const chunk = 64 << 10

// bytes forwards bytes until from ends, and returns the error with which it ended. The framing reads the same bytes, and its messages
// are recorded. When the framing needs more bytes, all messages in the bytes that it has are already on the tape, and bytes forwards
// these bytes. The receiver gets the beginning of a message without waiting for the rest.
func (p *pass) bytes(from, to *byteConn, framing wire.Framing, d wire.Direction) error {
	s := &stream{pass: p, d: d, from: from, to: to}
	o := wire.Options{MaxMessage: from.o.MaxMessage, NoiseLimit: math.MaxInt, Noise: func(line []byte) { p.rec.MessageAt(s.arrived, d, line) }}
	messages := framing(s, o)
	messages.(wire.Idler).OnIdle(s.flush)
	var more [][]byte
	for {
		msg, err := messages.Recv()
		if err == nil {
			more = buffered(messages, more)
			p.rec.MessageAt(s.arrived, d, msg, more...)
			continue
		}
		if s.ended == nil {
			s.rest(err, messages)
		}
		return s.ended
	}
}

// A stream is the input of the framing.
type stream struct {
	pass     *pass
	d        wire.Direction
	from, to *byteConn
	pending  []byte // bytes that the framing has read but that have not been forwarded
	ended    error
	begun    bool          // bytes have arrived
	arrived  time.Duration // when the last bytes arrived, since the start of the tape
}

// Read reads bytes. b must stay unchanged until flush, which forwards them.
func (s *stream) Read(b []byte) (int, error) {
	if s.ended != nil {
		return 0, s.ended
	}
	n, err := s.from.rwc.Read(b)
	s.arrived = s.pass.rec.Elapsed()
	if n == 0 {
		s.ended = err
		return 0, err
	}
	s.pending = b[:n]
	if s.from.o.Seen != nil {
		s.from.o.Seen(wire.Recv, s.pending)
	}
	if !s.begun && s.pass.first != nil {
		s.pass.first(s.d, s.pending)
	}
	s.begun = true
	return n, nil // the next read will return the error again
}

// flush forwards the pending bytes.
func (s *stream) flush() {
	if len(s.pending) == 0 || s.ended != nil {
		return
	}
	if s.to.o.Seen != nil {
		s.to.o.Seen(wire.Send, s.pending)
	}
	if _, err := s.to.rwc.Write(s.pending); err != nil {
		s.ended = sendError(err)
	}
	s.pending = nil
}

// rest forwards the rest of a stream after an error in the framing. It records the bytes as they arrive, starting with the message
// that is not valid.
func (s *stream) rest(why error, framing wire.Conn) {
	s.pass.rec.Note("the rest is recorded as bytes: " + why.Error())
	record := s.pass.rec.Pieces(s.d)
	if f, ok := framing.(interface{ Unread() []byte }); ok {
		for piece := range slices.Chunk(f.Unread(), chunk) {
			record(piece)
		}
	}
	buf := make([]byte, chunk)
	for s.flush(); s.ended == nil; s.flush() {
		if n, _ := s.Read(buf); n > 0 {
			record(buf[:n])
		}
	}
}

// Write implements io.Writer. It always fails, because the framing only reads.
func (s *stream) Write([]byte) (int, error) { return 0, errBytes }

// Close implements io.Closer. It does nothing, because the framing must not close the stream.
func (s *stream) Close() error { return nil }

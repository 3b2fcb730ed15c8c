package wiretap

import (
	"errors"
	"io"
	"math"
	"slices"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/recorder"
)

// Bytes is a wire.Framing without messages. Only Pass can use its connections.
func Bytes(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	return &byteConn{rwc: rwc, o: o}
}

// A byteConn makes a byte stream a connection.
type byteConn struct {
	rwc io.ReadWriteCloser
	o   wire.Options
}

var errBytes = errors.New("a stream of bytes has no messages")

// Recv implements wire.Conn. It never receives a message.
func (c *byteConn) Recv() ([]byte, error) { return nil, errBytes }

// Send implements wire.Conn. It cannot send messages.
func (c *byteConn) Send([]byte) error { return errBytes }

// Close implements wire.Conn.
func (c *byteConn) Close() error { return c.rwc.Close() }

// CloseSend implements wire.HalfCloser. It closes the whole stream if the stream cannot be half closed.
func (c *byteConn) CloseSend() error {
	if half, ok := c.rwc.(wire.WriteCloser); ok {
		return half.CloseWrite()
	}
	return c.rwc.Close()
}

// PeerClosed implements wire.PeerWatcher. Its channel never closes if the stream cannot detect that the peer stopped
// reading.
func (c *byteConn) PeerClosed() <-chan struct{} {
	if g, ok := c.rwc.(wire.PeerWatcher); ok {
		return g.PeerClosed()
	}
	return make(chan struct{})
}

// chunk bounds the bytes of one read without a framing.
const chunk = 64 << 10

// bytes passes on bytes until from ends, and returns the error of that end. The framing reads the same bytes to record messages. When it
// needs more, every message in what it has read is on the tape, and bytes passes that on. A peer therefore never waits for the rest of a
// message.
func (p *pass) bytes(from, to *byteConn, framing wire.Framing, d wire.Direction) error {
	s := &stream{from: from.rwc, to: to.rwc, clock: p.rec.Elapsed, read: from.o.Seen, wrote: to.o.Seen}
	if p.first != nil {
		s.first = func(b []byte) { p.first(d, b) }
	}
	o := wire.Options{MaxMessage: from.o.MaxMessage, NoiseLimit: math.MaxInt, Noise: func(line []byte) { p.rec.MessageAt(s.came, d, line) }}
	messages := framing(s, o)
	messages.(wire.Idler).OnIdle(s.flush)
	var read together
	for {
		msg, err := messages.Recv()
		if err == nil {
			p.rec.MessageAt(s.came, d, msg, read.with(messages)...)
			continue
		}
		if s.ended == nil {
			s.rest(err, messages, p.rec, d)
		}
		return s.ended
	}
}

// A stream is the framing's input.
type stream struct {
	from, to io.ReadWriteCloser
	pending  []byte // bytes that the framing has, but that are not passed on
	ended    error
	first    func(b []byte) // receives the first bytes; nil after the call
	clock    func() time.Duration
	came     time.Duration // when the last bytes arrived, by clock

	read, wrote func(d wire.Direction, b []byte) // receive the bytes of each side; may be nil
}

// Read reads bytes, which b has to hold until flush.
func (s *stream) Read(b []byte) (int, error) {
	if s.ended != nil {
		return 0, s.ended
	}
	n, err := s.from.Read(b)
	s.came = s.clock()
	if n == 0 {
		s.ended = err
		return 0, err
	}
	s.pending = b[:n]
	if s.read != nil {
		s.read(wire.Recv, s.pending)
	}
	if s.first != nil {
		s.first(s.pending)
		s.first = nil
	}
	return n, nil // the next read returns the error again
}

// flush passes on the pending bytes.
func (s *stream) flush() {
	if len(s.pending) == 0 || s.ended != nil {
		return
	}
	if s.wrote != nil {
		s.wrote(wire.Send, s.pending)
	}
	if _, err := s.to.Write(s.pending); err != nil {
		s.ended = sendError(err)
	}
	s.pending = nil
}

// rest passes on the rest of a stream with broken framing. It records the bytes as they arrive, starting with the invalid message.
func (s *stream) rest(why error, framing wire.Conn, rec *recorder.Conn, d wire.Direction) {
	rec.Note("the rest is recorded as bytes: " + why.Error())
	record := rec.Pieces(d)
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

// Write implements io.Writer. The framing only reads.
func (s *stream) Write([]byte) (int, error) { return 0, errBytes }

// Close implements io.Closer. The framing does not close the stream.
func (s *stream) Close() error { return nil }

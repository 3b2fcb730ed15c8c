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

// Bytes is a wire.Framing without messages: its connections can only be passed to Pass.
func Bytes(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	return &byteConn{rwc: rwc, o: o}
}

// A byteConn is a byte stream in the form of a connection.
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

// CloseSend implements wire.HalfCloser. It closes a stream that cannot be closed in one direction.
func (c *byteConn) CloseSend() error {
	if half, ok := c.rwc.(wire.WriteCloser); ok {
		return half.CloseWrite()
	}
	return c.rwc.Close()
}

// PeerClosed returns a channel that is closed when the peer stops reading, or nil if the stream cannot tell.
func (c *byteConn) PeerClosed() <-chan struct{} {
	if g, ok := c.rwc.(wire.PeerWatcher); ok {
		return g.PeerClosed()
	}
	return make(chan struct{})
}

// chunk bounds the bytes of one read.
const chunk = 64 << 10

// bytes passes bytes on until from ends, and returns the error of that end. The framing reads along to record messages. A chunk is passed
// on when the framing requests the next: every message in it has been recorded by then, and no peer waits for the rest of a message.
func (p *pass) bytes(from, to *byteConn, framing wire.Framing, d wire.Direction) error {
	s := &stream{from: from.rwc, to: to.rwc, buf: make([]byte, chunk), clock: p.rec.Elapsed, read: from.o.Seen, wrote: to.o.Seen}
	if p.first != nil {
		s.first = func(b []byte) { p.first(d, b) }
	}
	o := wire.Options{MaxMessage: from.o.MaxMessage, NoiseLimit: math.MaxInt, Noise: func(line []byte) { p.rec.MessageAt(s.came, d, line) }}
	messages := framing(s, o)
	var read together
	for {
		msg, err := messages.Recv()
		if err == nil {
			p.rec.MessageAt(s.came, d, msg, read.with(messages)...)
			continue
		}
		if s.ended != nil {
			return s.ended
		}
		return s.rest(err, messages, p.rec, d)
	}
}

// A stream is the input of the framing. It passes on the returned bytes at the next read.
type stream struct {
	from, to io.ReadWriteCloser
	buf      []byte
	pending  []byte // returned to the framing, but not passed on yet
	unread   []byte // the end of pending that the framing has not read
	ended    error
	first    func(b []byte) // gets the first bytes; nil: they are not wanted, or were delivered
	clock    func() time.Duration
	came     time.Duration // when the last bytes arrived, by clock

	read, wrote func(d wire.Direction, b []byte) // get the bytes of each side; nil: they are not wanted
}

func (s *stream) Read(b []byte) (int, error) {
	if len(s.unread) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

// next passes on the pending bytes and reads more.
func (s *stream) next() error {
	if err := s.flush(); err != nil {
		return err
	}
	n, err := s.from.Read(s.buf)
	s.came = s.clock()
	if s.read != nil && n > 0 {
		s.read(wire.Recv, s.buf[:n])
	}
	if s.first != nil && n > 0 {
		s.first(s.buf[:n])
		s.first = nil
	}
	s.pending, s.unread = s.buf[:n], s.buf[:n]
	if n > 0 {
		return nil
	}
	if err != nil {
		s.ended = err
	}
	return err
}

func (s *stream) flush() error {
	if len(s.pending) > 0 {
		if s.wrote != nil {
			s.wrote(wire.Send, s.pending)
		}
		if _, err := s.to.Write(s.pending); err != nil {
			s.ended = sendError(err)
			return s.ended
		}
		s.pending = nil
	}
	return nil
}

// An unreader is a framing that returns the bytes that it has read and not understood.
type unreader interface{ Unread() []byte }

// rest passes on the rest of a stream with broken framing. It records the bytes as they arrive, starting with the message that broke the
// framing.
func (s *stream) rest(why error, framing wire.Conn, rec *recorder.Conn, d wire.Direction) error {
	rec.Note("the rest is recorded as bytes: " + why.Error())
	record := rec.Pieces(d)
	if f, ok := framing.(unreader); ok {
		for piece := range slices.Chunk(f.Unread(), chunk) {
			record(piece)
		}
	}
	record(s.unread)
	for {
		if err := s.next(); err != nil {
			return err
		}
		record(s.pending)
	}
}

// Write implements io.Writer; the framing only reads.
func (s *stream) Write([]byte) (int, error) { return 0, errBytes }

// Close implements io.Closer; the framing closes nothing.
func (s *stream) Close() error { return nil }

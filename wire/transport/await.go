package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"rpcx/wire"
)

// firstWords is how long a connection that was awaited may take to say something
// that shows it is another one: most that are awaited say nothing before they are
// asked.
const firstWords = 100 * time.Millisecond

// Await binds a, has bound told where, and returns the first connection that passes
// all that a listener demands of it; nobody else can connect after that. Who is
// refused, or hangs up at once, is not it. It returns ctx's error when ctx ends.
func Await(ctx context.Context, a Address, c Config, bound func(endpoint string) error) (wire.Conn, error) {
	c.NoPosts = true
	l, err := Listen(ctx, a, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	if err := bound(l.Endpoint()); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	accept := l.Accept
	if s, ok := l.(*streamListener); ok {
		accept = s.acceptPeer
	}
	conn, err := accept()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return conn, err
}

// acceptPeer returns, as Accept does, a connection that may be the peer that is awaited.
func (s *streamListener) acceptPeer() (wire.Conn, error) {
	for {
		conn, err := s.next()
		if err != nil {
			return nil, err
		}
		stream := newNetStream(conn)
		if stream.first, err = s.hear(conn); err == nil {
			return s.c.frame(stream, "")
		}
		s.c.warn("%s: who connected is not the peer: %v", s.endpoint, err)
		_ = stream.Close()
	}
}

// hear returns what conn says by itself, or why it is not the peer.
func (s *streamListener) hear(conn net.Conn) ([]byte, error) {
	words := make([]byte, 4<<10)
	if err := conn.SetReadDeadline(time.Now().Add(firstWords)); err != nil {
		return nil, err
	}
	n, err := conn.Read(words)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, errors.New("it hung up at once")
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil || n == 0 {
		return nil, err
	}
	words = words[:n]
	o := s.c.Options
	o.Whole = true // what is cut off may go on
	c, err := Config{Framing: s.c.Framing, Options: o}.frame(drainedStream{bytes.NewReader(words)}, "")
	if err != nil {
		return nil, err
	}
	_, err = c.Recv()
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Protocol {
		return nil, f
	}
	return words, nil
}

// drainedStream is a stream of bytes of which all has come.
type drainedStream struct{ io.Reader }

func (drainedStream) Write(b []byte) (int, error) { return len(b), nil }
func (drainedStream) Close() error                { return nil }

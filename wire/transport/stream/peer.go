package stream

import (
	"bytes"
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

// AcceptPeer returns, as Accept does, a connection that may be the peer that is awaited.
func (s *streamListener) AcceptPeer() (wire.Conn, error) {
	for {
		conn, err := s.next()
		if err != nil {
			return nil, err
		}
		stream := New(conn)
		if stream.first, err = s.hear(conn); err == nil {
			return s.c.Frame(stream, "")
		}
		s.c.Warnf("%s: who connected is not the peer: %v", s.endpoint, err)
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
	_, err = s.c.Framing(drainedStream{bytes.NewReader(words)}, o).Recv()
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Protocol {
		return nil, f
	}
	return words, nil
}

// drainedStream is a stream of bytes of which all has come.
type drainedStream struct{ io.Reader }

func (drainedStream) Write(b []byte) (int, error) { return len(b), nil }
func (drainedStream) Close() error                { return nil }

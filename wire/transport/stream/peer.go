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

// firstWords is how long an expected peer may take to send something that shows that it is another program. Most peers
// send nothing before they get a request.
const firstWords = 100 * time.Millisecond

// AcceptPeer is Accept for a connection that may be from the expected peer.
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
		s.c.Warnf("%s: refused a connection that is not the expected peer: %v", s.endpoint, err)
		_ = stream.Close()
	}
}

// hear returns the first bytes of conn, or the reason why it is not from the expected peer.
func (s *streamListener) hear(conn net.Conn) ([]byte, error) {
	words := make([]byte, 4<<10)
	if err := conn.SetReadDeadline(time.Now().Add(firstWords)); err != nil {
		return nil, err
	}
	n, err := conn.Read(words)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, errors.New("it closed the connection at once")
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil || n == 0 {
		return nil, err
	}
	words = words[:n]
	o := s.c.Options
	o.Whole = true // a message that is cut off may continue
	_, err = s.c.Framing(drainedStream{bytes.NewReader(words)}, o).Recv()
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Protocol {
		return nil, f
	}
	return words, nil
}

// drainedStream is a stream of bytes that have all arrived.
type drainedStream struct{ io.Reader }

func (drainedStream) Write(b []byte) (int, error) { return len(b), nil }
func (drainedStream) Close() error                { return nil }

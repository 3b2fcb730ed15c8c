package relay

import (
	"context"
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// remoteStream reads the messages that the socket's items carry.
type remoteStream struct {
	dialect.Stream
	tap  wire.Tap // may be nil
	over bool
}

func (s *remoteStream) Next(ctx context.Context) (wire.Message, error) {
	for !s.over {
		m, err := s.Stream.Next(ctx)
		switch {
		case err != nil:
			if err != io.EOF && ctx.Err() == nil {
				err = fromSocket(err)
			}
			return wire.Message{}, err
		case m.Err != nil:
			s.over = true
			return wire.Message{}, FromRPC(m.Err)
		case m.Kind == wire.Response:
			continue // it names the stream
		case m.Final && m.Body == nil:
			s.over = true
			continue
		}
		m, err = unpack(m.Body)
		if s.tap != nil && len(m.Raw) > 0 {
			s.tap(wire.Recv, m.Raw)
		}
		return m, err
	}
	return wire.Message{}, io.EOF
}

// Waiting reports whether Next would return at once.
func (s *remoteStream) Waiting() bool {
	w, ok := s.Stream.(interface{ Waiting() bool })
	return ok && w.Waiting()
}

package session

import (
	"context"
	"errors"
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// remoteStream reads the messages that the socket's items carry.
type remoteStream struct {
	dialect.Stream
	over bool
}

func (s *remoteStream) Next(ctx context.Context) (wire.Message, error) {
	for !s.over {
		m, err := s.Stream.Next(ctx)
		switch {
		case err != nil:
			if !errors.Is(err, io.EOF) && ctx.Err() == nil {
				err = lostSocket(fromRPC(err))
			}
			return wire.Message{}, err
		case m.Err != nil:
			s.over = true
			return wire.Message{}, fromRPC(m.Err)
		case m.Kind == wire.Response:
			continue // it names the stream
		case m.Final && m.Body == nil:
			s.over = true
			continue
		}
		return unpack(m.Body)
	}
	return wire.Message{}, io.EOF
}

// Waiting reports whether Next would return at once.
func (s *remoteStream) Waiting() bool {
	w, ok := s.Stream.(interface{ Waiting() bool })
	return ok && w.Waiting()
}

// lostSocket is what it means that the socket's connection ended without a word.
func lostSocket(err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Closed || f.Close == nil {
		return err
	}
	return &wire.Fault{Kind: wire.Closed, Message: "the process that holds the connection has ended", Err: err}
}

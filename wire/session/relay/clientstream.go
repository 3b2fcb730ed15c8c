package relay

import (
	"context"
	"encoding/json"
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// remoteStream reads the messages in the socket's items.
type remoteStream struct {
	dialect.Stream
	r     *Client
	token wire.ID // assigned by the socket; nil if not known yet
	over  bool
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
			s.token = m.Stream.Clone()
			continue
		case m.Final && m.Body == nil:
			s.over = true
			continue
		}
		m, err = unpack(m.Body)
		if tap := s.r.tap; tap != nil && len(m.Raw) > 0 {
			tap(wire.Recv, m.Raw)
		}
		return m, err
	}
	return wire.Message{}, io.EOF
}

// Finish makes the watch in the other process accept no more messages (see dialect.Finisher).
func (s *remoteStream) Finish(ctx context.Context) error {
	if err := s.opened(ctx); err != nil {
		return err
	}
	_, err := s.r.Call(ctx, "finish", scan.JSON([]json.RawMessage{json.RawMessage(s.token)}))
	return err
}

// opened waits until the other process has opened the stream, so that later requests follow.
func (s *remoteStream) opened(ctx context.Context) error {
	for s.token == nil {
		m, err := s.Stream.Next(ctx)
		switch {
		case err != nil:
			return err
		case m.Err != nil:
			return FromRPC(m.Err)
		}
		s.token = m.Stream.Clone()
	}
	return nil
}

// Waiting reports whether Next would return at once.
func (s *remoteStream) Waiting() bool { return dialect.Waiting(s.Stream) }

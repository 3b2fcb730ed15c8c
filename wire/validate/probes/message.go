package probes

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"rpcx/wire"
	"rpcx/wire/jq"
)

// message returns the message that a step sends: its text with the values of
// variables filled in.
func (r *run) message(ctx context.Context, s *Step) ([]byte, error) {
	text := s.Send
	fill, err := compile(s.Fill, r.vars)
	if err != nil {
		return nil, err
	}
	if fill != nil {
		n := 0
		err := fill.Run(ctx, []byte("null"), func(out json.RawMessage) (bool, error) { return false, json.Unmarshal(out, &n) })
		if err != nil {
			return nil, err
		}
		text = strings.ReplaceAll(text, "${fill}", strings.Repeat("x", min(max(n, 0), wire.DefaultMaxMessage)))
	}
	for name, val := range r.vars {
		text = strings.ReplaceAll(text, "${"+name+"}", string(val))
	}
	return []byte(text), nil
}

// truth reports whether a program yields true for msg. It is false if the
// program fails.
func truth(ctx context.Context, p *jq.Program, msg []byte) bool {
	ok, err := p.Holds(ctx, msg)
	return err == nil && ok
}

// ending returns the words for the end of a connection with err.
func ending(err error) string {
	var closed *wire.CloseError
	switch {
	case errors.Is(err, io.EOF):
		return "the peer ended the connection"
	case errors.As(err, &closed):
		return closed.Error()
	}
	return err.Error()
}

package request

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/session"
	"rpcx/wire/testkit"
)

// failedStream is a stream that reports an error, and does not end. It is also its own conversation.
type failedStream struct {
	session.Conversation
	failed, cancelled bool
}

func (*failedStream) Dialect() string { return "jsonrpc" }

func (s *failedStream) Next(ctx context.Context) (wire.Message, error) {
	if !s.failed {
		s.failed = true
		return wire.Message{Kind: wire.Item, Err: &wire.Error{Message: "gone wrong"}}, nil
	}
	<-ctx.Done()
	return wire.Message{}, ctx.Err()
}

func (*failedStream) Event(m *wire.Message, ev *wire.Event) error {
	*ev = wire.Event{Kind: wire.Failure, Err: m.Err}
	return nil
}

func (s *failedStream) Cancel(context.Context) error {
	s.cancelled = true
	return nil
}

// TestGrace checks that after an error without an end of the stream, rpcx waits for the grace period, at most to the deadline. Then it
// cancels the stream.
func TestGrace(t *testing.T) {
	for _, c := range []struct {
		grace, timeout, least time.Duration
		want                  wire.FaultKind
	}{
		{50 * time.Millisecond, time.Minute, 50 * time.Millisecond, wire.RPCError},
		{0, time.Minute, time.Second, wire.RPCError},
		{time.Minute, 50 * time.Millisecond, 50 * time.Millisecond, wire.Timeout},
	} {
		print, err := format.New(io.Discard, format.Options{})
		testkit.OK(t, err)
		a := &env.Env{Console: format.NewConsole(new(strings.Builder), format.ConsoleOptions{}), Line: &cmdline.CommandLine{Cmd: &cmdline.Command{}}}
		s := &failedStream{}
		p := NewResponsePrinter(a, s, print, env.NewDeadline(t.Context(), c.timeout, 0))
		p.Grace = c.grace
		began := time.Now()
		f := wire.AsFault(p.Read(s))
		if took := time.Since(began); f == nil || f.Kind != c.want || !s.cancelled || took < c.least || took > 30*time.Second {
			t.Errorf("%+v: %+v after %v, cancelled: %t", c, f, took, s.cancelled)
		}
	}
}

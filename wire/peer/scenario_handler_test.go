package peer_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

func (s *stage) Close() error { return nil }

// Handle answers the peer's requests in scenarios.
func (s *stage) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	if in.Msg.Kind == wire.Notification {
		return nil, s.handleNotification(ctx, in.Msg)
	}
	switch in.Msg.Method {
	case "echo", "hookecho":
		return in.Msg.Params, nil
	case "fail":
		return nil, wire.Errorf(-32005, "no luck").WithData("really")
	case "broken":
		return nil, errors.New("disk on fire")
	case "boom":
		panic("boom")
	case "exit":
		runtime.Goexit()
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	case "sleep":
		s.nap(ctx)
		return json.RawMessage(`"slept"`), nil
	case "ask": // a nested call
		return s.caller.Call(ctx, "asked", in.Msg.Params)
	case "ticks":
		return nil, s.ticks(in)
	case "extra": // an event after the last one
		in.Answered = true
		_ = in.Emit(wire.Event{Kind: wire.Data, Final: true, Data: json.RawMessage("1")})
		_ = in.Emit(wire.Event{Kind: wire.Progress})
		return nil, nil
	}
	return nil, wire.Errorf(wire.CodeNoMethod, "method not found: %s", in.Msg.Method)
}

// nap lasts until the next step with a duration.
func (s *stage) nap(ctx context.Context) {
	if !s.real {
		time.Sleep(time.Second)
		return
	}
	select {
	case <-s.later:
	case <-ctx.Done():
	}
}

func (s *stage) ticks(in *dialect.Inbound) error {
	in.Answered = true
	id := wire.ID(`"t1"`)
	_ = in.Emit(wire.Event{Kind: wire.Opened, Stream: id})
	_ = in.Emit(wire.Event{Kind: wire.Data, Stream: id, Data: json.RawMessage("1")})
	_ = in.Emit(wire.Event{Kind: wire.Progress, Stream: id})
	_ = in.Emit(wire.Event{Kind: wire.Data, Stream: id, Data: json.RawMessage("2")})
	return in.Emit(wire.Event{Kind: wire.Done, Stream: id, Final: true})
}

func (s *stage) handleNotification(ctx context.Context, m wire.Message) error {
	switch m.Method {
	case "unknown":
		return wire.Errorf(wire.CodeNoMethod, "method not found")
	case "broken":
		return errors.New("disk on fire")
	case "boom":
		panic("boom")
	case "ask":
		if _, err := s.caller.Call(ctx, "asked", nil); err != nil {
			return err
		}
	case "slow":
		s.nap(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handled = append(s.handled, strings.TrimSpace(m.Method+" "+string(m.Params)))
	return nil
}

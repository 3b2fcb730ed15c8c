package request

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"time"

	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// Collect makes a call on a connection that other calls share, and returns its result: the data of
// a stream as an array, that of a job when it is over. It gives up when nothing has come for idle.
// Events for people are shown on the console of run.
func Collect(ctx context.Context, run *env.Env, conv session.Conversation, op dialect.Op, idle time.Duration) (json.RawMessage, error) {
	cl := env.NewDeadline(ctx, 0, idle)
	defer cl.Stop()
	st, err := conv.Open(cl.Ctx, op)
	if err != nil {
		return nil, env.Cause(cl.Ctx, err)
	}
	return collect(cl, run, conv, st)
}

// CollectFrom is Collect for a call that was sent waited ago and whose stream is st.
func CollectFrom(ctx context.Context, run *env.Env, conv session.Conversation, st dialect.Stream, idle, waited time.Duration) (json.RawMessage, error) {
	cl := env.NewDeadlineSince(ctx, idle, waited)
	defer cl.Stop()
	return collect(cl, run, conv, st)
}

func collect(cl *env.Deadline, run *env.Env, conv session.Conversation, st dialect.Stream) (json.RawMessage, error) {
	items, job := []json.RawMessage{}, ""
	var guided *wire.Error
	single, later := true, all.Named(conv.Dialect()).Streams.Deferred
	for {
		m, err := st.Next(cl.Ctx)
		if err == io.EOF && job != "" {
			if st, err = conv.Open(cl.Ctx, waitFor(job)); err != nil {
				return nil, env.Cause(cl.Ctx, err)
			}
			job, later = "", true
			continue
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, abandon(cl.Ctx, st, err)
		}
		cl.Touch()
		ev, err := dialect.EventOf(conv, m)
		if err != nil {
			return nil, err
		}
		if ev.Kind == wire.Guidance && ev.Message != "" {
			ev.Action = "" // the advice would be the same for each line
		}
		if ev.Kind == wire.Guidance && ev.Topic != "" {
			guided = &wire.Error{Kind: ev.Topic, Message: cmp.Or(ev.Message, ev.Topic)}
		}
		run.Console.Event(ev) // events for people
		job = startedJob(&m, &ev)
		switch {
		case recovers(ev):
		case m.Kind == wire.Response && m.Err == nil && !m.Final: // the answer that opens a stream
			single = later
		case ev.Kind == wire.Failure:
			return nil, abandoned(cl.Ctx, st, ev)
		case ev.Kind == wire.Data:
			single = single && (m.Kind == wire.Response || later && ev.Final)
			items = append(items, bytes.Clone(ev.Data))
		}
	}
	switch {
	case guided != nil && len(items) == 0: // the peer has sent advice about an error, but not the error
		return nil, guided
	case single && len(items) == 1:
		return items[0], nil
	case single && len(items) == 0:
		return json.RawMessage("null"), nil
	}
	return scan.ArrayOf(items...), nil
}

// abandoned returns the error of a call, and cancels its stream if that has not ended.
func abandoned(ctx context.Context, st dialect.Stream, ev wire.Event) error {
	e := ev.Err.Clone()
	if !ev.Final {
		bye, done := env.Farewell(ctx)
		defer done()
		_ = st.Cancel(bye)
	}
	return e
}

// abandon cancels a call that failed with err, and returns the reason for its end.
func abandon(ctx context.Context, st dialect.Stream, err error) error {
	if ctx.Err() != nil {
		bye, done := env.Farewell(ctx)
		defer done()
		_ = st.Cancel(bye)
	}
	return env.Cause(ctx, err)
}

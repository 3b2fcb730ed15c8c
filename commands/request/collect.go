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

// Collect makes a call on a shared connection and returns its result. The result of a stream is an array of its data,
// and the result of a job is its last data. Collect fails after idle without a message, and prints other events on
// run's console. open returns the stream of the call, which was sent waited ago.
func Collect(ctx context.Context, run *env.Env, conv session.Conversation, idle, waited time.Duration, open func(context.Context) (dialect.Stream, error)) (json.RawMessage, error) {
	cl := env.NewDeadlineSince(ctx, idle, waited)
	defer cl.Stop()
	st, err := open(context.WithValue(cl.Ctx, deadlineKey{}, cl))
	if err != nil {
		return nil, env.Cause(cl.Ctx, err)
	}
	c := collector{items: []json.RawMessage{}, single: true, deferred: all.Named(conv.Dialect()).Streams.Deferred}
	for {
		m, err := st.Next(cl.Ctx)
		if err == io.EOF && c.job != "" {
			if st, err = conv.Open(cl.Ctx, waitFor(c.job)); err != nil {
				return nil, env.Cause(cl.Ctx, err)
			}
			c.job, c.deferred = "", true
			continue
		}
		if err == io.EOF {
			return c.result()
		}
		if err != nil {
			if cl.Ctx.Err() != nil {
				cancelStream(cl.Ctx, st)
			}
			return nil, env.Cause(cl.Ctx, err)
		}
		cl.Received()
		ev, err := c.classify(cl.Ctx, &ReadOptions{}, conv, nil, &m)
		if err != nil {
			return nil, err
		}
		if c.take(run, &m, ev) {
			failure := ev.Err.Clone()
			if !ev.Final {
				cancelStream(cl.Ctx, st)
			}
			return nil, failure
		}
	}
}

// A collector combines the events of a call into one value.
type collector struct {
	classifier
	items    []json.RawMessage
	job      string      // the job that the last message started, or ""
	guided   *wire.Error // the error in the last guidance, or nil
	single   bool        // the only item is the result itself, not an element of a list
	deferred bool        // the result may follow the response
}

// take adds a message with its event (nil for none), and prints events other than data. failed reports that the event
// ends the call with its error.
func (c *collector) take(run *env.Env, m *wire.Message, ev *wire.Event) (failed bool) {
	if ev == nil {
		c.job, c.single = "", c.deferred
		return false
	}
	if ev.Kind == wire.Guidance && ev.Message != "" {
		ev.Action = "" // every line would have the same advice
	}
	if ev.Kind == wire.Guidance && ev.Topic != "" {
		c.guided = &wire.Error{Kind: ev.Topic, Message: cmp.Or(ev.Message, ev.Topic)}
	}
	run.Console.Event(*ev)
	c.job = startedJob(m, ev)
	switch {
	case recovers(*ev):
	case c.opening != "":
		c.single = c.deferred
	case ev.Kind == wire.Failure:
		return true
	case ev.Kind == wire.Data:
		c.single = c.single && (m.Kind == wire.Response || c.deferred && ev.Final)
		c.items = append(c.items, bytes.Clone(ev.Data))
	}
	return false
}

// result returns the collected value.
func (c *collector) result() (json.RawMessage, error) {
	switch {
	case c.guided != nil && len(c.items) == 0: // the peer sent guidance instead of the error
		return nil, c.guided
	case c.single && len(c.items) == 1:
		return c.items[0], nil
	case c.single && len(c.items) == 0:
		return json.RawMessage("null"), nil
	}
	return scan.ArrayOf(c.items...), nil
}

// cancelStream cancels st on the peer, in a limited time.
func cancelStream(ctx context.Context, st dialect.Stream) {
	closing, done := env.CloseContext(ctx)
	defer done()
	_ = st.Cancel(closing)
}

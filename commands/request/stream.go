package request

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/suggest"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
)

func (c *ResponsePrinter) count(ev *wire.Event) {
	if ev.Kind == wire.Gap && ev.Missed > 0 && c.state == nothingWrong {
		c.state = incomplete
	}
}

// endStream returns nil for regular ends: --for, --idle, and a peer that closes without an error. Without an item, it
// warns about notifications without a hook.
func (c *ResponsePrinter) endStream(err error) error {
	cause := context.Cause(c.deadline.Ctx)
	f := wire.AsFault(err)
	switch {
	case errors.Is(cause, options.ErrForElapsed):
		return c.warnUnhandled(nil)
	case f == nil && c.state == lost:
		return c.warnUnhandled(err)
	case f == nil:
		return err
	case c.deadline.OnIdle() && f == wire.AsFault(cause):
		return c.warnUnhandled(nil) // --idle is a regular end here
	case f.Kind == wire.Closed && c.Watch != nil && f.Close != nil && f.Close.Clean:
		return c.warnUnhandled(nil) // a peer may end a subscription by closing without an error
	case f.Kind == wire.RPCError:
		suggest.Call(c.env, f, nil, false)
	case f.Kind == wire.Timeout || f.Kind == wire.Closed:
		return c.warnUnhandled(err)
	}
	return err
}

// doWatching prints the messages for c.Watch. If op has a method, it sends op, the trigger, which accompanies --method or
// --select. Its outcome is that of the watch, unless the response to op is an error, or the connection was lost before it
// or, with WatchEnds, before the end of the exchange.
func (c *ResponsePrinter) doWatching(op dialect.Op) error {
	watch, err := c.conv.Open(c.deadline.Ctx, *c.Watch)
	if err != nil {
		return c.endStream(env.Cause(c.deadline.Ctx, err))
	}
	if op.Method == "" {
		return c.endStream(c.Read(watch))
	}
	st, err := c.conv.Open(c.deadline.Ctx, op)
	if err != nil {
		return c.endStream(env.Cause(c.deadline.Ctx, err))
	}
	ctx, stop := context.WithCancel(c.deadline.Ctx)
	var triggered error
	done := wire.Go(func() {
		defer wire.Guard()
		triggered = c.trigger(ctx, op.Method, st, watch)
	})
	err = c.endStream(c.Read(watch))
	stop()
	<-done
	c.cancel(st)
	failed := wire.AsFault(triggered)
	if c.state != lost || failed == nil {
		return err
	}
	if failed.Kind == wire.RPCError {
		suggest.Call(c.env, failed, nil, false)
	}
	return failed
}

// trigger reads st, the stream of the trigger, and returns the failure of the request or, with WatchEnds, of its exchange.
// It discards the items, because the watch also receives them. If the request fails, and not because the connection
// closed, c.deadline is cancelled with the failure. If the request has opened a stream, watch ends with that stream, and
// with WatchEnds with the exchange.
func (c *ResponsePrinter) trigger(ctx context.Context, method string, st, watch dialect.Stream) error {
	m, failed := st.Next(ctx)
	switch {
	case failed != nil:
		failed = named(failed, method)
	case m.Err != nil:
		failed = rpcFault(method, m.Err.Clone())
	}
	opened := failed == nil && m.Kind == wire.Response && !m.Final
	if f := wire.AsFault(failed); f != nil && f.Kind != wire.Closed { // earlier messages are still printed
		c.deadline.Cancel(f)
	}
	err := failed
	for ; err == nil; _, err = st.Next(ctx) {
		c.deadline.Received()
	}
	if (c.WatchEnds || opened && err == io.EOF) && ctx.Err() == nil {
		if err != io.EOF && !errors.Is(err, wire.ErrResponseEnded) {
			failed = err
		}
		if err := dialect.Finish(ctx, watch); err != nil {
			c.deadline.Cancel(err)
		}
	}
	return failed
}

// settleUnhandled bounds the wait for hooks to handle the last notifications.
const settleUnhandled = 200 * time.Millisecond

// unhandledTimeout is how long a stream may stay empty before warnWaiting warns about a notification without a hook.
const unhandledTimeout = 5 * time.Second

// warnWaiting warns once while c waits for its first data, because a stream may wait forever. It returns when c has
// printed data, or when ctx ends.
func (c *ResponsePrinter) warnWaiting(ctx context.Context) {
	defer wire.Guard()
	every := time.NewTicker(unhandledTimeout)
	defer every.Stop()
	for !c.data.Load() {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if hint, fix := c.unhandled(); hint != "" && !c.data.Load() {
			c.warned.Store(true)
			c.env.Console.Event(wire.Event{Kind: wire.Guidance, Message: hint, Fix: fix})
			return
		}
	}
}

// unhandled returns a hint about the first notification without a hook, with the command that prints it, or "".
func (c *ResponsePrinter) unhandled() (hint string, fix []string) {
	method := c.env.Unhandled.Load()
	if method == nil {
		return "", nil
	}
	hint = strconv.Quote(format.Cut(*method, 200)) + " was received, but no hook handles it"
	if !cmdline.IsSafeName(*method) {
		return hint + " (--method NAME prints it)", nil
	}
	return hint, c.env.Line.WithMore("--method=" + *method)
}

// warnUnhandled adds a hint to a failure if c has printed no data: the notification without a hook, and the command
// that prints it. Without a failure, it prints the hint.
func (c *ResponsePrinter) warnUnhandled(err error) error {
	if c.data.Load() {
		return err
	}
	// Hooks run in parallel with the reader. A notification that arrived before the end may not have reached them yet.
	ctx, cancel := context.WithTimeout(context.Background(), settleUnhandled)
	defer cancel()
	c.conv.Settle(ctx)
	hint, fix := c.unhandled()
	switch {
	case hint == "":
		return err
	case err == nil:
		if c.warned.CompareAndSwap(false, true) {
			c.env.Console.Event(wire.Event{Kind: wire.Guidance, Message: hint, Fix: fix})
		}
		return nil
	}
	f := wire.AsFault(err)
	if f == nil || f.Hint != "" {
		return err
	}
	return f.WithFix(hint, fix)
}

package request

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/scan"
)

// defaultGrace is how long a stream's end is awaited after an error in it.
const defaultGrace = time.Second

// grace tracks a stream that reported an error but has not ended: its end is awaited for a bounded time.
type grace struct {
	outcome error           // the command's outcome; nil if the error was expected
	ctx     context.Context // ends when the grace period is over; nil: the stream has not failed
	stop    context.CancelFunc
}

// failed reports whether an error came after which the stream does not go on.
func (g *grace) failed() bool { return g.ctx != nil }

// waitContext returns the context in which the next message is awaited: the
// deadline, or the shorter grace period.
func (c *ResponsePrinter) waitContext() context.Context {
	if c.grace.ctx != nil {
		return c.grace.ctx
	}
	return c.deadline.Ctx
}

// recovers reports whether the peer continues its stream after an error.
func recovers(ev wire.Event) bool {
	return ev.Kind == wire.Failure && !ev.Final && string(scan.Get(ev.Extra, "recoverable")) == "true"
}

// afterError handles an error event that was not the last of its stream. One that
// the peer calls recoverable is shown. Any other is the outcome, when the stream
// ends or the grace period is over.
func (c *ResponsePrinter) afterError(ctx context.Context, ev wire.Event) (stop bool, err error) {
	if recovers(ev) || c.grace.failed() {
		c.env.Console.Event(wire.Event{Kind: wire.Log, Level: "error", Message: errorText(ev.Err)})
		return false, nil
	}
	met, err := c.print.Error(ctx, ev.Err)
	if err != nil {
		return true, err
	}
	if !met {
		c.grace.outcome = c.advice.Explain(rpcFault(c.Method, ev.Err))
	}
	c.grace.ctx, c.grace.stop = context.WithTimeout(c.deadline.Ctx, cmp.Or(c.Grace, defaultGrace))
	return false, nil
}

// finish returns the command's outcome once a failed stream has ended or the grace
// period is over.
func (c *ResponsePrinter) finish() error {
	c.grace.stop()
	if c.deadline.Ctx.Err() != nil {
		c.cancel(c.stream)
		return env.Cause(c.deadline.Ctx, c.deadline.Ctx.Err())
	}
	if c.grace.ctx.Err() != nil {
		c.cancel(c.stream) // the stream has not ended, but is not read
	}
	return c.grace.outcome
}

// missingResults returns the outcome of a call whose response only announced results, but whose exchange ended before they
// arrived: over plain HTTP they cannot arrive otherwise.
func (c *ResponsePrinter) missingResults(err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Protocol || c.opening == "" || !all.Named(c.conv.Dialect()).Streams.Deferred {
		return err
	}
	g := *f
	g.Kind = wire.Closed
	g.Message = fmt.Sprintf("%s was answered %s, a promise of results, and none can come over this connection any more",
		c.Method, format.Cut(format.CleanLine(c.opening), 200))
	g.Hint = "ask for them by a verb of the job's own, or connect in a way that they can come: ws, tcp, an event stream"
	return &g
}

// timeoutHint adds a hint to a timeout if the first answer was taken for a
// stream's id and nothing followed: it may have been the result.
func (c *ResponsePrinter) timeoutHint(err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Timeout || c.opening == "" || c.Stream || f.Hint != "" {
		return err
	}
	g, means := *f, "the id of a stream"
	if all.Named(c.conv.Dialect()).Streams.Deferred {
		means = "a promise of more"
	}
	g.Hint = "the answer was " + format.Cut(format.CleanLine(c.opening), 80) + ", which " + c.conv.Dialect() +
		" takes for " + means + "; where it is the result itself, the peer speaks jsonrpc"
	return &g
}

// noCancelHint adds to a timeout that the peer may still be working on what, if
// the dialect cannot cancel it.
func noCancelHint(spec dialect.Spec, err error, what string) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Timeout || !spec.Streams.NoCancel {
		return err
	}
	g := *f
	g.Hint = what + " may still run there: " + spec.Name + " has no way to cancel it"
	if f.Hint != "" {
		g.Hint += "; " + f.Hint
	}
	return &g
}

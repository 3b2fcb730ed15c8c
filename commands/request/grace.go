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

// defaultGrace is how long rpcx waits for a stream's end after an error.
const defaultGrace = time.Second

// grace tracks a stream that reported an error but has not ended. rpcx waits a limited time for its end.
type grace struct {
	outcome error           // the command's outcome, or nil if the error was expected
	ctx     context.Context // ends with the grace period, which is shorter than the deadline; nil if the stream has not failed
	stop    context.CancelFunc
}

// failed reports whether an error ended the stream's data.
func (g *grace) failed() bool { return g.ctx != nil }

// recovers reports whether the peer marks an error that does not end its stream.
func recovers(ev wire.Event) bool {
	return ev.Kind == wire.Failure && !ev.Final && string(scan.Get(ev.Extra, "recoverable")) == "true"
}

// afterError handles an error event before the end of its stream. If the peer marks the error as recoverable, rpcx
// shows it. Any other error becomes the outcome at the end of the stream or the grace period.
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

// finish returns the command's outcome at the end of a failed stream or its grace period.
func (c *ResponsePrinter) finish() error {
	c.grace.stop()
	if c.deadline.Ctx.Err() != nil {
		c.cancel(c.stream)
		return env.Cause(c.deadline.Ctx, c.deadline.Ctx.Err())
	}
	if c.grace.ctx.Err() != nil {
		c.cancel(c.stream) // the stream has not ended
	}
	return c.grace.outcome
}

// missingResults returns the outcome of a call whose response announced results that did not arrive before the exchange
// ended. Plain HTTP cannot deliver later results.
func (c *ResponsePrinter) missingResults(err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Protocol || c.opening == "" || !all.Named(c.conv.Dialect()).Streams.Deferred {
		return err
	}
	g := *f
	g.Kind = wire.Closed
	g.Message = fmt.Sprintf("%s returned %s, which announces results, but this connection cannot deliver them",
		c.Method, format.Cut(format.CleanLine(c.opening), 200))
	g.Hint = "wait for them with rpcx job wait, or connect over ws, tcp or an event stream"
	return &g
}

// timeoutHint adds a hint to a timeout if no message followed a response that rpcx read as a stream's id: the response
// may have been the result.
func (c *ResponsePrinter) timeoutHint(err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Timeout || c.opening == "" || c.Stream || f.Hint != "" {
		return err
	}
	means := "the id of a stream"
	if all.Named(c.conv.Dialect()).Streams.Deferred {
		means = "the announcement of results"
	}
	return f.WithHint("the response was " + format.Cut(format.CleanLine(c.opening), 80) + ", which " + c.conv.Dialect() +
		" reads as " + means + "; if it is the result, use jsonrpc+ENDPOINT")
}

// noCancelHint adds a hint to a timeout in a dialect without cancellation: the peer may still be working on what.
func noCancelHint(spec dialect.Spec, err error, what string) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Timeout || !spec.Streams.NoCancel {
		return err
	}
	hint := what + " may still run on the peer: " + spec.Name + " cannot cancel it"
	if f.Hint != "" {
		hint += "; " + f.Hint
	}
	return f.WithHint(hint)
}

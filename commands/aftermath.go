package commands

import (
	"context"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// defaultGrace is how long a stream's end is waited for after an error in it.
const defaultGrace = time.Second

// An aftermath is what is left to do after an error that was not its stream's
// last event.
type aftermath struct {
	grace   time.Duration
	failed  bool  // an error came of which the stream does not recover
	outcome error // of the command then; nil where the error was expected
	ctx     context.Context
	stop    context.CancelFunc
}

// until is the context in which the next message is awaited.
func (c *consumer) until() context.Context {
	if c.after.ctx != nil {
		return c.after.ctx
	}
	return c.clock.ctx
}

// recovers says that an error is none for the stream as a whole: its peer calls
// it recoverable.
func recovers(ev wire.Event) bool {
	return ev.Kind == wire.Failure && !ev.Final && string(scan.Get(ev.Extra, "recoverable")) == "true"
}

// outlived takes an error event after which the stream goes on: one that the
// peer calls recoverable is shown, any other is the outcome, when the stream's
// end has come or the grace is over.
func (c *consumer) outlived(ctx context.Context, ev wire.Event) (stop bool, err error) {
	if recovers(ev) || c.after.failed {
		c.app.console.Event(wire.Event{Kind: wire.Log, Level: "error", Message: errorText(ev.Err)})
		return false, nil
	}
	met, err := c.print.Error(ctx, ev.Err)
	if err != nil {
		return true, err
	}
	c.after.failed = true
	if !met {
		c.after.outcome = c.explain(rpcFault(c.method, ev.Err))
	}
	grace := c.after.grace
	if grace == 0 {
		grace = defaultGrace
	}
	c.after.ctx, c.after.stop = context.WithTimeout(c.clock.ctx, grace)
	return false, nil
}

// ends says what comes of a stream in which an error came, when no more does.
func (c *consumer) ends() error {
	c.after.stop()
	if c.clock.ctx.Err() != nil {
		c.cancel()
		return why(c.clock.ctx, c.clock.ctx.Err())
	}
	if c.after.ctx.Err() != nil {
		c.cancel() // there is no end: the peer need not send more
	}
	return c.after.outcome
}

// silent is the outcome of a call that was out of time. Where its answer was
// taken for a stream's id, and nothing came, it may have been the result.
func (c *consumer) silent(err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Timeout || c.opening == "" || c.lasts || f.Hint != "" {
		return err
	}
	g, means := *f, "the id of a stream"
	if session.SpecOf(session.Endpoint{Dialect: c.conv.Dialect()}).Later {
		means = "a promise of more"
	}
	g.Hint = "the answer was " + format.Cut(format.CleanLine(c.opening), 80) + ", which " + c.conv.Dialect() +
		" takes for " + means + "; where it is the result itself, the peer speaks jsonrpc"
	return &g
}

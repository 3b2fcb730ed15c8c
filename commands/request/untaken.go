package request

import (
	"context"
	"strconv"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/format"
	"rpcx/wire"
)

// settleUntaken is how long the end of a command waits until its hooks have
// seen the last notifications.
const settleUntaken = 200 * time.Millisecond

// AdviseUntaken tells the user of a notification that no hook took, and of the
// command that prints it, if c has printed nothing. If err is a failure it
// returns err with that advice, else it prints the advice.
func (c *Consumer) AdviseUntaken(err error) error {
	if c.data {
		return err
	}
	// Notifications are handled beside what is read: one that came before the end may still be on its way there.
	ctx, cancel := context.WithTimeout(context.Background(), settleUntaken)
	defer cancel()
	c.conv.Settle(ctx)
	method := c.env.Untaken.Load()
	if method == nil {
		return err
	}
	name := strconv.Quote(format.Cut(*method, 200))
	hint, fix := name+" came, and nothing took it", []string(nil)
	if cmdline.IsSafeName(*method) {
		fix = c.env.Line.WithMore("--method=" + *method)
	} else {
		hint += ": --method NAME takes it"
	}
	if err == nil {
		c.env.Console.Event(wire.Event{Kind: wire.Guidance, Message: hint, Fix: fix})
		return nil
	}
	f := wire.AsFault(err)
	if f == nil || f.Hint != "" {
		return err
	}
	g := *f
	g.Hint, g.Fix = hint, fix
	return &g
}

package request

import (
	"context"
	"strconv"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/format"
	"rpcx/wire"
)

// settleUnhandled is how long the end of a command waits until its hooks have
// seen the last notifications.
const settleUnhandled = 200 * time.Millisecond

// unhandledTimeout is how long a stream may stay empty before WarnWaiting says what came in its place.
const unhandledTimeout = 5 * time.Second

// WarnWaiting gives the advice of WarnUnhandled, once, while c still waits: a stream without an end would wait for ever.
// It returns when c has printed something, or with ctx.
func (c *ResponsePrinter) WarnWaiting(ctx context.Context) {
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

// unhandled returns what to say of the first notification that no hook took, and the command that takes it; "" if there
// was none.
func (c *ResponsePrinter) unhandled() (hint string, fix []string) {
	method := c.env.Unhandled.Load()
	if method == nil {
		return "", nil
	}
	hint = strconv.Quote(format.Cut(*method, 200)) + " came, and nothing took it"
	if !cmdline.IsSafeName(*method) {
		return hint + ": --method NAME takes it", nil
	}
	return hint, c.env.Line.WithMore("--method=" + *method)
}

// WarnUnhandled tells the user of a notification that no hook took, and of the
// command that prints it, if c has printed nothing. If err is a failure it
// returns err with that advice, else it prints the advice.
func (c *ResponsePrinter) WarnUnhandled(err error) error {
	if c.data.Load() {
		return err
	}
	// Notifications are handled beside what is read: one that came before the end may still be on its way there.
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
	g := *f
	g.Hint, g.Fix = hint, fix
	return &g
}

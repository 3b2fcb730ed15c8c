package commands

import (
	"context"
	"fmt"
	"time"

	"rpcx/wire"
)

// A deadline bounds one call: --timeout as a whole, --idle from message to
// message. Its context ends with a Fault of kind Timeout as the cause.
type deadline struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	whole  *time.Timer
	idle   *time.Timer
	every  time.Duration
}

// newDeadline starts the clock; zero durations bound nothing.
func newDeadline(ctx context.Context, whole, idle time.Duration) *deadline {
	c := &deadline{every: idle}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	if whole > 0 {
		c.whole = time.AfterFunc(whole, func() {
			c.cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("not done within %v (--timeout)", whole), nil))
		})
	}
	if idle > 0 {
		c.idle = time.AfterFunc(idle, func() {
			c.cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("nothing came for %v (--idle)", idle), nil))
		})
	}
	return c
}

// deadline starts a clock as the flags say; idle is what holds where they do not.
func (t *timeFlags) deadline(ctx context.Context, idle time.Duration) *deadline {
	return newDeadline(ctx, t.timeout.or(0), t.idle.or(idle))
}

// touch says that a message came.
func (c *deadline) touch() {
	if c.idle != nil {
		c.idle.Reset(c.every)
	}
}

// stop ends the clock.
func (c *deadline) stop() {
	for _, t := range []*time.Timer{c.whole, c.idle} {
		if t != nil {
			t.Stop()
		}
	}
	c.cancel(nil)
}

// cause replaces the bare error of an ended context by what ended it.
func cause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if cause := wire.AsFault(context.Cause(ctx)); cause != nil {
		return cause
	}
	return err
}

package env

import (
	"context"
	"fmt"
	"time"

	"rpcx/wire"
)

// A Deadline bounds one call: --timeout as a whole, --idle from message to
// message. When one runs out, Ctx ends with a Fault of kind Timeout as its cause.
// Stop releases the timers.
type Deadline struct {
	Ctx    context.Context
	Cancel context.CancelCauseFunc
	whole  *time.Timer
	idle   *time.Timer
	every  time.Duration
}

// NewDeadline starts both timers at once. A duration of zero or less bounds
// nothing.
func NewDeadline(ctx context.Context, whole, idle time.Duration) *Deadline {
	c := &Deadline{every: idle}
	c.Ctx, c.Cancel = context.WithCancelCause(ctx)
	if whole > 0 {
		c.whole = time.AfterFunc(whole, func() {
			c.Cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("not done within %v (--timeout)", whole), nil))
		})
	}
	if idle > 0 {
		c.idle = time.AfterFunc(idle, func() {
			c.Cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("nothing came for %v (--idle)", idle), nil))
		})
	}
	return c
}

// UntilFirst bounds how long the first message may take to come, where no idle
// time was given. What comes after it may take as long as it likes.
func (c *Deadline) UntilFirst(d time.Duration) *Deadline {
	if c.idle == nil && c.every == 0 { // less than 0: the user wants no bound
		c.idle = time.AfterFunc(d, func() {
			c.Cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("nothing came for %v (--idle)", d), nil))
		})
	}
	return c
}

// Touch restarts the idle timer because a message came.
func (c *Deadline) Touch() {
	switch {
	case c.idle == nil:
	case c.every > 0:
		c.idle.Reset(c.every)
	default:
		c.idle.Stop()
	}
}

// Pause stops the idle timer until the next Touch.
func (c *Deadline) Pause() {
	if c.idle != nil {
		c.idle.Stop()
	}
}

// Stop ends the timers and Ctx.
func (c *Deadline) Stop() {
	for _, t := range []*time.Timer{c.whole, c.idle} {
		if t != nil {
			t.Stop()
		}
	}
	c.Cancel(nil)
}

// Cause replaces err, if ctx has ended, by the Fault that ended ctx: a timeout or
// a signal says more than "context canceled".
func Cause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if cause := wire.AsFault(context.Cause(ctx)); cause != nil {
		return cause
	}
	return err
}

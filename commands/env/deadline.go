package env

import (
	"context"
	"fmt"
	"time"

	"rpcx/wire"
)

// A Deadline bounds one call: --timeout as a whole, --idle from message to
// message. Its context ends with a Fault of kind Timeout as the cause.
type Deadline struct {
	Ctx    context.Context
	Cancel context.CancelCauseFunc
	whole  *time.Timer
	idle   *time.Timer
	every  time.Duration
}

// NewDeadline starts the clock; zero durations bound nothing.
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

// Touch says that a message came.
func (c *Deadline) Touch() {
	if c.idle != nil {
		c.idle.Reset(c.every)
	}
}

// Stop ends the clock.
func (c *Deadline) Stop() {
	for _, t := range []*time.Timer{c.whole, c.idle} {
		if t != nil {
			t.Stop()
		}
	}
	c.Cancel(nil)
}

// Cause replaces the bare error of an ended context by what ended it.
func Cause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if cause := wire.AsFault(context.Cause(ctx)); cause != nil {
		return cause
	}
	return err
}

package env

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
)

// A Deadline bounds one call: --timeout bounds the whole call, and --idle the time between messages. When one expires,
// Ctx ends with a Fault of kind Timeout as its cause. Stop releases the timers.
type Deadline struct {
	Ctx    context.Context
	Cancel context.CancelCauseFunc
	whole  *time.Timer
	end    time.Time // when --timeout ends Ctx, or the zero time
	every  time.Duration

	paused   atomic.Bool // the idle timer is stopped, and Touch does nothing
	received atomic.Bool // the peer has sent a message about the request

	mu        sync.Mutex // guards the fields below
	idle      *time.Timer
	working   int         // the number of running hooks
	idleFault *wire.Fault // the Fault of --idle if that ended Ctx, else nil
}

// NewDeadline starts both timers. A limit of zero or less means no limit.
func NewDeadline(ctx context.Context, whole, idle time.Duration) *Deadline {
	c := &Deadline{every: idle}
	c.Ctx, c.Cancel = context.WithCancelCause(ctx)
	if whole > 0 {
		c.end = time.Now().Add(whole)
		c.whole = time.AfterFunc(whole, func() {
			c.Cancel(wire.NewFault(wire.Timeout, fmt.Sprintf("not done within %v (--timeout)", whole), nil))
		})
	}
	if idle > 0 {
		c.startIdle(idle)
	}
	return c
}

// Share returns limit, or half of the remaining time of --timeout if the half is shorter.
func (c *Deadline) Share(limit time.Duration) time.Duration {
	if c.end.IsZero() {
		return limit
	}
	return min(limit, time.Until(c.end)/2)
}

// NewDeadlineSince returns a Deadline without --timeout, for a call that was sent waited ago.
func NewDeadlineSince(ctx context.Context, idle, waited time.Duration) *Deadline {
	c := NewDeadline(ctx, 0, idle)
	if idle > 0 {
		c.idle.Reset(max(idle-waited, 0))
	}
	return c
}

func (c *Deadline) startIdle(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused.Store(false)
	c.idle = time.AfterFunc(d, func() { c.idleExpired(d) })
}

func (c *Deadline) idleExpired(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused.Load() { // the timer expired before Pause stopped it
		return
	}
	if c.working > 0 { // the peer waits for a hook, and Working restarts the timer
		c.idle.Reset(d)
		return
	}
	c.idleFault = wire.NewFault(wire.Timeout, fmt.Sprintf("no message for %v (--idle)", d), nil)
	c.Cancel(c.idleFault)
}

// OnIdle reports whether --idle has ended Ctx, not --timeout or a signal.
func (c *Deadline) OnIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idleFault != nil && wire.AsFault(context.Cause(c.Ctx)) == c.idleFault
}

// Working adds change to the number of running hooks: 1 when a hook starts, -1 when it ends. The idle timer pauses while
// a hook runs.
func (c *Deadline) Working(change int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.working += change; change < 0 && c.every > 0 && c.idle != nil {
		c.idle.Reset(c.every)
	}
}

// FirstMessage bounds the wait for the first message by d, unless the user has set --idle. Later messages may take any
// time.
func (c *Deadline) FirstMessage(d time.Duration) *Deadline {
	if c.idle == nil && c.every == 0 { // a negative value means that the user has set no limit
		c.startIdle(d)
	}
	return c
}

// Received records a message of the peer and restarts the idle timer.
func (c *Deadline) Received() {
	c.received.Store(true)
	c.Touch()
}

// Touch restarts the idle timer.
func (c *Deadline) Touch() {
	if c.paused.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle != nil && c.every > 0 {
		c.idle.Reset(c.every)
		return
	}
	if c.idle != nil {
		c.idle.Stop()
	}
	c.paused.Store(true)
}

// Pause stops the idle timer until the next Touch.
func (c *Deadline) Pause() {
	if c.idle != nil {
		c.idle.Stop()
	}
}

// Stop ends the timers and Ctx.
func (c *Deadline) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range []*time.Timer{c.whole, c.idle} {
		if t != nil {
			t.Stop()
		}
	}
	c.Cancel(nil)
}

// Cause returns the Fault that ended ctx, or else err. A timeout or a signal is more precise than "context canceled".
func Cause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if cause := wire.AsFault(context.Cause(ctx)); cause != nil {
		return cause
	}
	return err
}

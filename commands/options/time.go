package options

import (
	"context"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// Time holds the flags that bound a call in time.
type Time struct {
	Timeout cmdline.Duration
	Idle    cmdline.Duration
}

const DefaultIdle = 60 * time.Second

// Deadline starts the timers of the flags. idle is the default of --idle.
func (t *Time) Deadline(ctx context.Context, idle time.Duration) *env.Deadline {
	return env.NewDeadline(ctx, t.Timeout.Or(0), t.Idle.Or(idle))
}

// The help texts of --idle, which differ by command.
const (
	IdleCall   = "give up when nothing comes for `DURATION`; 0 bounds nothing (60s)"
	IdleStream = "stop, as --for does, when nothing comes for `DURATION` (unbounded)"
	IdleJob    = "give up when nothing comes for `DURATION` (60s until the job is accepted, then unbounded)"
	IdlePipe   = "give up when nothing comes for `DURATION`; at the end of stdin, with nothing owed, stop (unbounded)"
	IdleNone   = "give up when nothing comes for `DURATION` (unbounded)"
)

func (t *Time) flags(idle string) []cmdline.Flag {
	return append(t.WholeFlags(), cmdline.Generic(cmdline.GroupTime, "idle", idle, &t.Idle))
}

// WholeFlags returns the flag that bounds a command as a whole.
func (t *Time) WholeFlags() []cmdline.Flag {
	return []cmdline.Flag{cmdline.Generic(cmdline.GroupTime, "timeout", "give up after `DURATION`, whatever has come", &t.Timeout)}
}

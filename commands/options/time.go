package options

import (
	"context"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// Time holds the time limits of a call.
type Time struct {
	Timeout cmdline.Duration
	Idle    cmdline.Duration
}

const DefaultIdle = 60 * time.Second

// Deadline starts the timers of the flags. idle is the default of --idle.
func (t *Time) Deadline(ctx context.Context, idle time.Duration) *env.Deadline {
	return env.NewDeadline(ctx, t.Timeout.Or(0), t.Idle.Or(idle))
}

// These are the help texts of --idle, by command.
const (
	IdleCall   = "fail after `DURATION` without a message (60s; 0: never)"
	IdleStream = "stop after `DURATION` without a message, as --for does (no limit)"
	IdleJob    = "fail after `DURATION` without a message (60s until the job is accepted, then no limit)"
	IdlePipe   = "fail after `DURATION` without a message, or stop if stdin has ended and no response is pending (no limit)"
	IdleNone   = "fail after `DURATION` without a message (no limit)"
)

func (t *Time) flags(idle string) []cmdline.Flag {
	return append(t.WholeFlags(), cmdline.Generic(cmdline.GroupTime, "idle", idle, &t.Idle))
}

// WholeFlags returns the flag that limits the duration of the whole command.
func (t *Time) WholeFlags() []cmdline.Flag {
	return []cmdline.Flag{cmdline.Generic(cmdline.GroupTime, "timeout", "end the command after `DURATION`", &t.Timeout)}
}

package options

import (
	"errors"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
)

// StopConditions are the flags that end a stream with success: after a number of
// values, a certain value, or a time.
type StopConditions struct {
	Count int64
	Until string
	For   cmdline.Duration
}

// Flags returns the flags, which store their values in e.
func (e *StopConditions) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Number("", "count", "stop after `N` values", 1, &e.Count),
		cmdline.Text("", "until", "", "stop after the value for which the jq program `EXPR` is true", &e.Until),
		cmdline.PositiveDuration("", "for", "stop after `DURATION`", &e.For),
	}
}

// Given reports whether one of the flags was given.
func (e *StopConditions) Given() bool { return e.Count > 0 || e.Until != "" || e.For > 0 }

// ErrForElapsed is the cause of a context that --for cancelled.
var ErrForElapsed = errors.New("--for has expired")

// StartTimer starts the timer of --for, which cancels d with ErrForElapsed.
func (e *StopConditions) StartTimer(d *env.Deadline) {
	if e.For > 0 {
		time.AfterFunc(time.Duration(e.For), func() { d.Cancel(ErrForElapsed) })
	}
}

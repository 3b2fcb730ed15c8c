// Package options defines the groups of flags that commands share: connecting, hooks, parameters, output and time
// limits.
package options

import (
	"context"
	"slices"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire/dialect"
)

// GraceFlag returns --grace, which bounds the wait for a stream's end after an error.
func GraceFlag(to *cmdline.Duration) *cmdline.Flag {
	return cmdline.PositiveDuration("", "grace", "wait up to `DURATION` for a stream to end after an error (1s)", to)
}

// Client contains the flags of every command that connects. Commands that know their first operation set First, because
// in some dialects the handshake contains it.
type Client struct {
	Conn      Connection
	Handshake Handshake
	Reconnect Reconnect   // only for commands that keep running
	First     *dialect.Op // may be nil
	// Own returns the method of the user's first call, which the handshake leaves to the user
	// (dialect.HandshakeOptions). Without it, rpcx makes the whole handshake.
	Own     func(ctx context.Context) string
	Raw     bool          // the command reads and writes all messages itself
	Resends bool          // --wait applies to each message, not to the whole conversation
	Lasts   bool          // a response may take any time; a missing one causes a warning
	Listen  time.Duration // bounds the wait for a first message that may reveal the peer's dialect; 0 for no wait
	Time    Time
	Out     Output
	Hooks   Hooks
	Record  Record
}

// Flags returns the flags of c. idle is the help text of --idle, which depends on the command.
func (c *Client) Flags(run *env.Env, idle string) []*cmdline.Flag {
	return append(c.Out.Flags(), c.ConnectingFlags(run, idle)...)
}

// ConnectingFlags returns the flags without those for output, for a command that does not print the peer's messages.
func (c *Client) ConnectingFlags(run *env.Env, idle string) []*cmdline.Flag {
	return slices.Concat(c.Conn.Flags(), c.Conn.KeptFlags(), c.Handshake.flags(), c.Time.flags(idle), c.Hooks.Flags(), c.Record.Flags(),
		[]*cmdline.Flag{cmdline.Parsed(cmdline.GroupOutput, "write-out", "w", "print times, sizes and the exit status on stderr at the end, with the Go template `TEMPLATE` (json: all of them)", func(text string) (err error) {
			run.Common.Meter, err = env.NewMeter(text, run.Started)
			return err
		})}, run.Common.Flags())
}

// Calls sets Own to METHOD, the first of args, if there is one.
func (c *Client) Calls(args []string) {
	if len(args) > 0 {
		c.Own = func(context.Context) string { return args[0] }
	}
}

// Time contains the time limits of a call.
type Time struct {
	Timeout cmdline.Duration
	Idle    cmdline.Duration
}

const DefaultIdle = 60 * time.Second

// Deadline starts the timers of the flags. idle is the default of --idle.
func (t *Time) Deadline(ctx context.Context, idle time.Duration) *env.Deadline {
	return env.NewDeadline(ctx, t.Timeout.Or(0), t.Idle.Or(idle))
}

// The help text of --idle depends on the command.
const (
	IdleCall   = "fail after `DURATION` without a message (60s; 0: no limit)"
	IdleStream = "stop with status 0 after `DURATION` without a message (no limit)"
	IdleJob    = "fail after `DURATION` without a message (60s until the job is accepted, then no limit)"
	IdlePipe   = "fail after `DURATION` without a message; stop with status 0 if stdin has ended and no response is pending (no limit)"
	IdleNone   = "fail after `DURATION` without a message (no limit)"
)

func (t *Time) flags(idle string) []*cmdline.Flag {
	return append(t.WholeFlags(), cmdline.Generic(cmdline.GroupTime, "idle", idle, &t.Idle))
}

// WholeFlags returns the flag that bounds the whole command.
func (t *Time) WholeFlags() []*cmdline.Flag {
	return []*cmdline.Flag{cmdline.Generic(cmdline.GroupTime, "timeout", "end the command with status 124 after `DURATION`", &t.Timeout)}
}

// Package options has the groups of flags that commands share, with what each
// comes to: how to connect, what answers the peer, how parameters are read,
// what is printed, and how long all of it may take.
package options

import (
	"context"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire/dialect"
)

// GraceFlag returns --grace: how long the end of a stream is awaited after an
// error in it.
func GraceFlag(to *cmdline.Duration) cmdline.Flag {
	return cmdline.PositiveDuration("", "grace", "wait `DURATION` for the end of a stream after an error in it (1s)", to)
}

// Client holds the flags of every command that connects. Commands that know
// their first operation set First, since some dialects send it together with
// the handshake.
type Client struct {
	Conn      Connection
	Handshake Handshake
	Reconnect Reconnect   // only of commands that last
	First     *dialect.Op // the first operation; nil: not known
	// Own returns the method that the user calls first. The greeting then
	// leaves that step to the user (dialect.HandshakeOptions). nil: the whole
	// greeting is ours.
	Own    func(ctx context.Context) string
	Lasts  bool          // the wait for an answer has no bound; the user is told if none comes
	Listen time.Duration // how long the peer may speak first, which may show its dialect; 0: this is not awaited
	Time   Time
	Out    Output
	Hooks  Hooks
	Record Record
}

// Flags returns the flags, which store into c. idle is the help text of --idle,
// whose meaning depends on the command.
func (c *Client) Flags(run *env.Env, idle string) []cmdline.Flag {
	return append(c.Out.Flags(), c.ConnectingFlags(run, idle)...)
}

// ConnectingFlags returns the flags without those for output, for a command
// that prints something else than the peer's messages.
func (c *Client) ConnectingFlags(run *env.Env, idle string) []cmdline.Flag {
	var all []cmdline.Flag
	for _, group := range [][]cmdline.Flag{
		c.Conn.Flags(), c.Conn.KeptFlags(), c.Handshake.flags(), c.Time.flags(idle), c.Hooks.Flags(), c.Record.Flags(), {writeOutFlag(run)}, run.Common.Flags(),
	} {
		all = append(all, group...)
	}
	return all
}

// Calls sets First to a call of METHOD, if args has one.
func (c *Client) Calls(args []string) {
	if len(args) > 0 {
		c.Own = func(context.Context) string { return args[0] }
	}
}

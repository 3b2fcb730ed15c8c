// Package options has the groups of flags that commands share, each with what it
// comes to: how to connect, what answers the peer, how parameters are read, what is
// printed, and how long all of it may take.
package options

import (
	"context"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire/dialect"
)

// GraceFlag makes --grace: how long the end of a stream is waited for after an
// error in it.
func GraceFlag(to *cmdline.Duration) cmdline.Flag {
	return cmdline.PositiveDuration("", "grace", "after an error in a stream, wait `DURATION` for its end (1s)", to)
}

// Client are the flags of every command that connects. First is set by commands
// that know what will be asked first, which some dialects send together with the
// handshake.
type Client struct {
	Conn      Connection
	Handshake Handshake
	Reconnect Reconnect   // of those that last
	First     *dialect.Op // what the conversation will be asked for first; nil: unknown
	// Own returns the method that the user calls first, which the greeting then leaves to
	// him (dialect.HandshakeOptions); nil: the greeting is ours.
	Own    func(ctx context.Context) string
	Time   Time
	Out    Output
	Hooks  Hooks
	Record Record
}

// Flags makes the flags, which store into c and a. idle is the help text of
// --idle, which means more than one thing.
func (c *Client) Flags(run *env.Env, idle string) []cmdline.Flag {
	return append(c.Out.Flags(), c.ConnectingFlags(run, idle)...)
}

// ConnectingFlags are Flags without those of the output, for a command that
// prints something else than what the peer says.
func (c *Client) ConnectingFlags(run *env.Env, idle string) []cmdline.Flag {
	var all []cmdline.Flag
	for _, group := range [][]cmdline.Flag{
		c.Conn.Flags(), c.Handshake.flags(), c.Time.flags(idle), c.Hooks.Flags(), c.Record.Flags(), {writeOutFlag(run)}, run.Common.Flags(),
	} {
		all = append(all, group...)
	}
	return all
}

// Calls notes that METHOD is called first, where args has one.
func (c *Client) Calls(args []string) {
	if len(args) > 0 {
		c.Own = func(context.Context) string { return args[0] }
	}
}

package daemon

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/session/daemon"
	"rpcx/wire/session/rundir"
)

type verbOptions struct {
	time options.Time
	out  options.Output

	closeAll bool // only for close

	method  string // only for next
	waitFor cmdline.Duration
	lease   cmdline.Duration
}

// A verb is a subcommand of rpcx session.
type verb struct {
	name, args, usage string
	description       string
	flags             func(o *verbOptions) []*cmdline.Flag // its own flags
	prints            bool                                 // whether the command has the flags for output
	run               func(ctx context.Context, run *env.Env, o *verbOptions) error
	examples          []cmdline.Example
}

// verbs are the commands in the order of the help.
var verbs = []verb{
	{
		name: "list", usage: "list the sessions of this user, and the profiles", prints: true, run: runList,
		description: "Prints one JSON line for each session and profile (on a terminal, a table). Profiles come last,\nwith the state profile.",
		examples: []cmdline.Example{
			{Says: "Print the names of all sessions", Command: `rpcx session list -r -q 'select(.state != "profile").name'`},
			{Says: "Print the sessions and profiles (on a terminal, as a table)", Command: `rpcx session list`},
		},
	},
	{
		name: "status", args: "NAME", usage: "print the state of a session as JSON", prints: true, run: runStatus,
		description: "Prints the session's endpoint, dialect, age, process, traffic, pending calls, hooks, and last error.",
		examples: []cmdline.Example{
			{Says: "Print whether a session is connected", Command: "rpcx session status work -r -q .state"},
			{Says: "Print the whole state of a session", Command: `rpcx session status work`},
		},
	},
	{
		name: "log", args: "NAME", usage: "print the last lines of a session's log", prints: true, run: runLog,
		description: "A session writes its warnings to a log of up to 50 lines. This command prints each line as a JSON\nstring (-r: as text).",
		examples: []cmdline.Example{
			{Says: "Print the warnings of a session", Command: "rpcx session log work -r"},
			{Says: "Print the last lines as JSON strings", Command: `rpcx session log work`},
		},
	},
	{
		name: "close", args: "NAME", usage: "end a session", run: runClose,
		description: "Cancels the session's calls on the peer, and ends the session's process.",
		flags: func(o *verbOptions) []*cmdline.Flag {
			return []*cmdline.Flag{cmdline.Bool("", "all", "", "close all sessions of this user (instead of NAME)", &o.closeAll)}
		},
		examples: []cmdline.Example{
			{Says: "Close all sessions", Command: "rpcx session close --all"},
			{Says: "Close a session, and wait at most two seconds", Command: `rpcx session close work --timeout 2s`},
		},
	},
	{
		name: "next", args: "NAME", usage: "claim the oldest call in a session's inbox", prints: true, run: runNext,
		description: "Waits for a call in the inbox (connect --on NAME=inbox), and prints it as one line:\n" +
			"{\"id\",\"method\",\"params\"}. No two processes get the same call.",
		flags: func(o *verbOptions) []*cmdline.Flag {
			return []*cmdline.Flag{
				cmdline.Text("", "method", "", "claim only calls of the method `NAME`", &o.method).Filled("the name of a method"),
				cmdline.PositiveDuration("", "for", "exit with status 124 after `DURATION` without a call (no limit)", &o.waitFor),
				cmdline.PositiveDuration("", "lease", "return a claimed call to the inbox if it is not answered within `DURATION` (60s)", &o.lease),
			}
		},
		examples: []cmdline.Example{
			{Says: "Wait for a call for ten seconds", Command: "rpcx session next work --for 10s"},
			{Says: "Claim the next call of the method approve", Command: `rpcx session next work --method approve`},
		},
	},
	{
		name: "reply", args: "NAME ID VALUE", usage: "answer a call in the inbox with a JSON value", run: runReply,
		description: "ID is the \"id\" that session next printed. If VALUE is -, rpcx reads the value from stdin.",
		examples: []cmdline.Example{
			{Says: "Answer yes", Command: "rpcx session reply work 1 true"},
			{Says: "Read the answer from a file", Command: `rpcx session reply work 1 - < answer.json`},
		},
	},
	{
		name: "reject", args: "NAME ID CODE TEXT", usage: "answer a call in the inbox with an error", run: runReject,
		examples: []cmdline.Example{
			{Says: "Answer no", Command: "rpcx session reject work 1 -32000 'not today'"},
			{Says: "Reject a call with the code for invalid params", Command: `rpcx session reject work 1 -32602 "no such order"`},
		},
	},
}

// Command returns rpcx session with its subcommands.
func Command(run *env.Env) *cmdline.Command {
	c := &cmdline.Command{
		Name:        "session",
		Usage:       "manage background connections and their inboxes",
		Args:        "list|status|log|close|next|reply|reject ...",
		Description: description,
	}
	c.Commands = wire.Map(verbs, func(v verb) *cmdline.Command { return v.command(run) })
	return c
}

const description = `rpcx connect ENDPOINT --session NAME keeps a connection in the background, which every
command can use as @NAME. These commands print the state of a session, close it, and answer
the calls in its inbox (--on NAME=inbox). NAME can also be written as @NAME.`

func (v verb) command(run *env.Env) *cmdline.Command {
	o := &verbOptions{}
	var flags []*cmdline.Flag
	if v.flags != nil {
		flags = v.flags(o)
	}
	if v.prints {
		flags = append(flags, options.WithoutErrors(o.out.Flags())...)
	}
	flags = slices.Concat(flags, o.time.WholeFlags(), run.Common.Flags())
	return &cmdline.Command{
		Name: v.name, Usage: v.usage, Args: v.args, Description: v.description,
		Examples: v.examples,
		Flags:    flags,
		Action: func(ctx context.Context) error {
			if err := v.check(run.Line, o); err != nil {
				return err
			}
			return v.run(ctx, run, o)
		},
	}
}

// check returns an error for too many or too few arguments.
func (v verb) check(l *cmdline.CommandLine, o *verbOptions) error {
	want := strings.Fields(v.args)
	if o.closeAll {
		want = nil
	}
	switch n := len(l.Args); {
	case n > len(want) && len(want) == 0:
		return l.Usage("%s takes no arguments, not %q", v.name, l.Args[0])
	case n > len(want):
		return l.Usage("%s takes only %s, not %q", v.name, v.args, l.Args[len(want)])
	case n < len(want):
		f := l.Usage("%s is missing: session %s takes %s", want[n], v.name, v.args)
		if want[n] == "NAME" {
			f.Hint = "rpcx session list lists the sessions"
		}
		return f
	}
	return options.Alone(l).Check(l)
}

// nameOf returns the session NAME, with or without @. @ alone is the session in RPCX_ENDPOINT.
func nameOf(l *cmdline.CommandLine) (string, error) {
	given := l.Args[0]
	if given == "@" {
		given = cmp.Or(os.Getenv("RPCX_ENDPOINT"), given)
	}
	name := strings.TrimPrefix(given, "@")
	if err := rundir.CheckName(name); err != nil {
		return "", l.Usage("%s is not a session", given).WithHint("write NAME or @NAME; rpcx session list lists the sessions")
	}
	return name, nil
}

// withSession calls do with the session in the first argument, within --timeout.
func withSession(ctx context.Context, run *env.Env, o *verbOptions, do func(cl *env.Deadline, c *daemon.Control) error) error {
	name, err := nameOf(run.Line)
	if err != nil {
		return err
	}
	cl := env.NewDeadline(ctx, o.time.Timeout.Or(0), 0)
	defer cl.Stop()
	return attached(cl, name, do)
}

// attached calls do with the session name.
func attached(cl *env.Deadline, name string, do func(cl *env.Deadline, c *daemon.Control) error) error {
	c, err := daemon.Attach(cl.Ctx, name)
	if err == nil {
		defer c.Close()
		err = do(cl, c)
	}
	return env.Cause(cl.Ctx, err)
}

// withInbox is like withSession, but for requests to the inbox of a live session. The session does not count as idle
// during a request.
func withInbox(ctx context.Context, run *env.Env, o *verbOptions, do func(cl *env.Deadline, c *daemon.Control) error) error {
	return withSession(ctx, run, o, func(cl *env.Deadline, c *daemon.Control) error {
		if err := c.Handshake(cl.Ctx); err != nil {
			return err
		}
		if err := request.SameVersion(strings.TrimPrefix(run.Line.Args[0], "@"), c.Hello().Version); err != nil {
			return err
		}
		return do(cl, c)
	})
}

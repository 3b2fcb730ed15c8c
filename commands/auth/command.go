// Package auth implements rpcx auth: logins to HTTP endpoints.
package auth

import (
	"context"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/oauth"
	"rpcx/wire/scan"
)

type flags struct {
	time options.Time
	conn options.Connection
	want wants
}

type verb struct {
	name, args, usage, description string

	flags    func(o *flags) []*cmdline.Flag
	run      func(ctx context.Context, run *env.Env, o *flags) error
	examples []cmdline.Example
}

var verbs = []verb{
	{
		name: "login", args: "ENDPOINT", usage: "log in to an endpoint", run: runLogin, description: loginDescription,
		flags: func(o *flags) []*cmdline.Flag {
			return slices.Concat(o.want.flags(), o.conn.Login.Flags(), o.conn.WebFlags())
		},
		examples: []cmdline.Example{
			{Says: "Log in with the browser", Command: "rpcx auth login mcp+https://HOST/mcp"},
			{Says: "Log in over ssh, with the browser of another device", Command: "rpcx auth login https://HOST/rpc --device"},
			{Says: "Log in as a machine, without a user", Command: "rpcx auth login https://HOST/rpc --client-credentials --client-id ci --client-secret @secret"},
		},
	},
	{
		name: "status", args: "[ENDPOINT]", usage: "list logins", run: runStatus, flags: func(o *flags) []*cmdline.Flag { return o.conn.Login.Flags() },
		description: "Prints a JSON line for each login, without its tokens. With ENDPOINT, prints only the logins\nfor it, and exits with status 6 if there are none.",
		examples: []cmdline.Example{
			{Says: "List all logins", Command: "rpcx auth status"},
			{Says: "Print the login that commands use for an endpoint", Command: "rpcx auth status mcp+https://HOST/mcp"},
		},
	},
	{
		name: "logout", args: "ENDPOINT", usage: "end a login", run: runLogout,
		description: "Revokes the tokens, if the authorization server supports that, and deletes the stored copies.",
		flags:       func(o *flags) []*cmdline.Flag { return slices.Concat(o.conn.Login.Flags(), o.conn.WebFlags()) },
		examples: []cmdline.Example{
			{Says: "Log out", Command: "rpcx auth logout mcp+https://HOST/mcp"},
			{Says: "Log out of one of several accounts", Command: "rpcx auth logout https://HOST/rpc --account work"},
		},
	},
	{
		name: "token", args: "ENDPOINT", usage: "print the token of a login", run: runToken,
		description: "Prints the access token for use by another program. rpcx first renews the token if necessary.\nKeep it secret.",
		flags:       func(o *flags) []*cmdline.Flag { return slices.Concat(o.conn.Login.Flags(), o.conn.WebFlags()) },
		examples: []cmdline.Example{
			{Says: "Use a login with curl", Command: `curl -H "Authorization: Bearer $(rpcx auth token https://HOST/rpc)" https://HOST/me`},
			{Says: "Print the token of one of several accounts", Command: "rpcx auth token https://HOST/rpc --account work"},
		},
	},
}

const loginDescription = `Finds the authorization server of ENDPOINT, opens its login page in a browser ($BROWSER),
and stores the tokens in the system's keyring if it is unlocked, otherwise in a file that
only you can read. It prints the login as a JSON line. From then on, all commands send the
token to ENDPOINT and renew it.

Without --client-id and --client-metadata, rpcx registers a client for this login. --device
shows a code to type on another device, --client-credentials logs in without a user, and
--with-token reads a token from stdin. rpcx waits up to 10 minutes for the user (--timeout).
rpcx-security(7) describes how tokens are protected.`

// Command returns rpcx auth with its subcommands.
func Command(run *env.Env) *cmdline.Command {
	c := &cmdline.Command{
		Name:        "auth",
		Usage:       "log in to HTTP endpoints (OAuth)",
		Args:        "login|status|logout|token ...",
		Description: "A login stores the token for an HTTP or WebSocket endpoint. Every command that uses the endpoint\nsends the token, and renews it before it expires.",
	}
	c.Commands = wire.Map(verbs, func(v verb) *cmdline.Command { return v.command(run) })
	return c
}

func (v verb) command(run *env.Env) *cmdline.Command {
	o := &flags{}
	return &cmdline.Command{
		Name: v.name, Usage: v.usage, Args: v.args, Description: v.description,
		Examples: v.examples,
		Flags:    slices.Concat(v.flags(o), o.time.WholeFlags(), run.Common.Flags()),
		Action: func(ctx context.Context) error {
			if len(run.Line.Args) > 1 {
				return run.Line.Usage("%s takes only ENDPOINT, not %q", v.name, run.Line.Args[1])
			}
			cl := env.NewDeadline(ctx, o.time.Timeout.Or(longest), 0)
			defer cl.Stop()
			return env.Cause(cl.Ctx, v.run(cl.Ctx, run, o))
		},
	}
}

// longest is the default of --timeout.
const longest = 10 * time.Minute

// target returns the command's endpoint and its resource.
func target(ctx context.Context, run *env.Env) (endpoint.Endpoint, resource, error) {
	e, _, err := request.Endpoint(ctx, run, "")
	if err != nil {
		return e, nil, err
	}
	if e.Socket != "" {
		return e, nil, run.Line.Usage("%s is a session", run.Line.Args[0]).WithHint("name the endpoint that the session is connected to")
	}
	u, err := oauth.Resource(e.Address)
	return e, u, err
}

// none returns the Fault for an endpoint without a login.
func none(run *env.Env, u resource) error {
	return wire.NewFault(wire.Auth, "there is no login for "+u.String(), nil).WithHint("log in with rpcx auth login " + wire.Quote(run.Line.Args[0]))
}

// print prints a login without its tokens.
func print(run *env.Env, l *oauth.Login) error {
	var o scan.Object
	o.Text("resource", l.Resource)
	o.SomeText("issuer", l.Issuer)
	o.SomeText("account", l.Account)
	if scopes := l.Scopes(); len(scopes) > 0 {
		o.Text("scope", strings.Join(scopes, " "))
	}
	if !l.Expiry.IsZero() {
		o.Text("expires", l.Expiry.UTC().Format(time.RFC3339))
	}
	o.Bool("renewable", l.Renews)
	o.Text("kept", map[bool]string{true: "keyring", false: "file"}[l.Keyring])
	return cmdline.Print(&run.Out, string(o.End())+"\n")
}

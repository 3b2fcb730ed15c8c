// Package request makes a request. It opens a connection, makes the operation of the command line, sends it, prints the
// response and closes the connection.
package request

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/suggest"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/profile"
	"rpcx/wire/session"
	"rpcx/wire/session/relay"
)

// Endpoint parses the first argument and applies its profile. It returns the endpoint and the arguments after it. For a
// session, the process of the session provides the dialect.
func Endpoint(ctx context.Context, run *env.Env, dialect string) (endpoint.Endpoint, []string, error) {
	args := run.Line.Args
	role, _ := run.Line.Value("role").(string)
	listening := run.Line.Cmd.Name == "serve" || role == "client" // the endpoint is a listen address
	if len(args) == 0 {
		hint := "give one, such as ws://host/path, exec:COMMAND or demo:orders"
		if listening {
			hint = "give a listen address, such as ws://127.0.0.1:0/ or unix:PATH"
		}
		return endpoint.Endpoint{}, nil, run.Line.Usage("the endpoint is missing").WithHint(hint)
	}
	e, err := session.ParseEndpoint(args[0], dialect)
	if err != nil {
		return e, nil, suggest.Endpoint(run.Line, err, listening)
	}
	if !listening && e.Reversed == endpoint.Accept {
		run.Line.TakeTrailing()
		args = run.Line.Args
	}
	if err = configure(run, e, listening); err == nil && !listening {
		e, err = reach(ctx, run, e)
	}
	if err == nil && e.Socket != "" { // its dialect is known now
		err = options.ForPeer(run.Line, e).Check(run.Line)
	}
	run.Respell = e.Spec().Names.ForUser
	return e, args[1:], err
}

// configure rejects flags on the command line without an effect for e, and applies the profile and the defaults of e.
func configure(run *env.Env, e endpoint.Endpoint, listening bool) error {
	s := options.ForPeer(run.Line, e)
	if listening {
		s = options.ForClients(run.Line, e)
	}
	if to, _ := run.Line.Value("to").(string); to != "" { // flags may apply to that peer, whose endpoint is parsed later
		return refuseProfile(run.Line, e.Profile)
	}
	s = s.With(e.Profile)
	if err := s.Check(run.Line); err != nil {
		return err
	}
	if run.Line.Cmd.Name == "serve" {
		return refuseProfile(run.Line, e.Profile)
	}
	return options.Apply(run, e.Profile, s)
}

// refuseProfile rejects a profile as a listen address.
func refuseProfile(l *cmdline.CommandLine, p *profile.Profile) error {
	if p == nil {
		return nil
	}
	return l.Usage("cannot listen on @%s: a profile is for connecting to a peer", p.Name)
}

// reach attaches to the session of e within --timeout, because the session's process may be stopped or still connecting.
func reach(ctx context.Context, run *env.Env, e endpoint.Endpoint) (endpoint.Endpoint, error) {
	limit, _ := run.Line.Value("timeout").(time.Duration)
	cl := env.NewDeadline(ctx, limit, 0)
	defer cl.Stop()
	client, err := relay.Dial(cl.Ctx, e)
	if client != nil {
		run.Reached, e.Dialect = client, client.Dialect()
	}
	if err == nil && e.Session != "" {
		err = SameVersion(e.Session, client.Hello().Version)
	}
	return e, env.Cause(cl.Ctx, err)
}

// SameVersion returns a Fault of kind Conflict if another version of rpcx runs the session name, because versions may
// be incompatible. session close accepts any version.
func SameVersion(name, version string) error {
	if version == env.Version() {
		return nil
	}
	return &wire.Fault{
		Kind: wire.Conflict, Fix: []string{"rpcx", "session", "close", name},
		Message: fmt.Sprintf("session %s belongs to rpcx %s, but this is rpcx %s", name, cmp.Or(version, "(unknown version)"), env.Version()),
	}
}

// open connects with a client's flags. If a signal or a timeout caused the error, open returns that cause.
func open(cl *env.Deadline, run *env.Env, e endpoint.Endpoint, c *options.Client, cat *catalog.Catalog, sniffer *env.Sniffer) (session.Conversation, error) {
	ctx := cl.Ctx
	o, err := options.ForSession(ctx, run, &c.Conn, &c.Hooks)
	if err != nil {
		return nil, err
	}
	o.Raw, o.Catalog, o.Reconnect, o.First = c.Raw, cat, c.Reconnect.Options(run, &c.Conn), c.First
	o.Own = c.Own
	if c.Raw || c.Resends {
		o.Resend = Resend(run, cl.Touch)
	}
	if !c.Raw && !readsLogs(run, o.Hooks) {
		o.Logs = ""
	}
	if err := c.Handshake.Apply(run, &e, &o); err != nil {
		return nil, err
	}
	o.Reached, o.Hurry, o.Hook.Working = run.Reached, env.GraceContext(ctx), cl.Working
	if o.Record, err = c.Record.Open(run, e.String(), e.Dialect, false); err != nil {
		return nil, err
	}
	if o.Record != nil && o.Cache == cache.Usual {
		o.Cache = cache.Refresh // a tape needs the catalog
	}
	run.Opened = o
	o.Transport.First = sniffer.Sniff
	if c.Lasts {
		o.Transport.Unanswered = sniffer.Unanswered
	}
	o.Wrap = sniffer.Connected
	sniffer.Connecting()
	conv, err := session.Open(ctx, e, o)
	sniffer.Opened(err == nil)
	if cause := wire.AsFault(context.Cause(ctx)); err != nil && cause != nil && !(cause.Kind == wire.Timeout && peerResponded(err)) {
		return nil, cause
	}
	return conv, err
}

// readsLogs reports whether a command uses the peer's log: with -v, events, messages, a stream, or a hook for notifications.
func readsLogs(run *env.Env, hooks []hook.Entry) bool {
	events, _ := run.Line.Value("events").(bool)
	messages, _ := run.Line.Value("messages").(bool)
	return events || messages || run.Common.Verbose || run.Line.Cmd.Name == "subscribe" || slices.ContainsFunc(hooks, func(e hook.Entry) bool {
		return strings.HasPrefix(e.Pattern, "notifications/") || dialect.Matches(e.Pattern, "notifications/message")
	})
}

// peerResponded reports whether err is an error from the peer or about one of its messages. The handshake has then failed,
// and only closing the connection has lasted until the timeout.
func peerResponded(err error) bool {
	f := wire.AsFault(err)
	return f != nil && (f.Kind == wire.Protocol || f.Kind == wire.RPCError || f.Kind == wire.Auth)
}

package request

import (
	"context"
	"errors"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// Converse opens a connection, runs work on it and closes it. cl bounds the whole conversation, and Converse stops cl
// at the end. The idle timer restarts when the connection is open.
func Converse(run *env.Env, cl *env.Deadline, e endpoint.Endpoint, c *options.Client, cat *catalog.Catalog, work func(session.Conversation) error) (err error) {
	defer cl.Stop()
	defer run.BoundOutput(cl.Ctx)()
	if e.Reversed == endpoint.Accept {
		cl.Pause() // --wait and --connect-timeout bound connecting, not --idle
	}
	sniffer := env.NewSniffer(run, e, cl, func(e endpoint.Endpoint, flag string) bool {
		s := options.ForPeer(run.Line, e)
		return s.Applies(flag)
	})
	defer func() { err = sniffer.Explain(err) }()
	var conv session.Conversation
	err = untilReached(run, cl, func() (err error) {
		conv, err = open(cl, run, e, c, cat, sniffer)
		return err
	})
	if err != nil {
		return err
	}
	defer remember(run, e)
	defer func() { err = errors.Join(err, closeConversation(cl.Ctx, conv, &c.Hooks, err)) }()
	cl.Touch()
	if c.Listen > 0 {
		if err := sniffer.AwaitMismatch(time.After(c.Listen)); err != nil {
			return err
		}
	}
	return work(conv)
}

// remember stores the endpoint as typed for completion, unless it is a name or contains a secret. It runs at the end of
// a command, because it writes a file.
func remember(run *env.Env, e endpoint.Endpoint) {
	if typed := run.Line.Args[0]; !strings.HasPrefix(typed, "@") && e.Socket == "" && e.Demo == "" && !strings.Contains(e.String(), "…") {
		cache.Remember(typed)
	}
}

// closeConversation waits at most env.CloseTimeout for running hooks, and closes conv. It returns a hook's failure with
// --strict-hooks, and if the peer returned an error, which the hook may have caused.
func closeConversation(ctx context.Context, conv session.Conversation, h *options.Hooks, err error) error {
	settle, cancel := env.DetachedContext(ctx, env.CloseTimeout)
	conv.Settle(settle)
	cancel()
	if f := wire.AsFault(conv.Close()); f != nil && f.Kind == wire.Expectation {
		return f
	}
	failed := wire.AsFault(conv.HookFailure())
	if failed == nil {
		return nil
	}
	switch f := cmdline.Worst(err); { // a warning has reported the hook's failure
	case f != nil && f.Kind == wire.RPCError:
		g := *f
		g.Kind = wire.Helper
		if f.RPC != nil {
			g.Hint = "the hook for " + failed.Method + " failed before that"
		}
		return &g
	case h.Strict:
		return &wire.Fault{Kind: wire.Helper, Method: failed.Method, Message: "the hook for " + failed.Method + " failed (--strict-hooks)"}
	}
	return nil
}

package request

import (
	"context"
	"errors"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// Converse opens a connection with the flags of a client, has work done on it and
// closes it; then cl is stopped, which bounds the opening and the work. The clock
// begins anew when the connection is there.
func Converse(ctx context.Context, a *env.Env, cl *env.Deadline, e session.Endpoint, c *options.Client, cat *catalog.Catalog, work func(session.Conversation) error) error {
	return converse(ctx, a, cl, e, c, cat, false, work)
}

// ConverseRaw is Converse for work that takes all the traffic as it is.
func ConverseRaw(ctx context.Context, a *env.Env, cl *env.Deadline, e session.Endpoint, c *options.Client, work func(session.Conversation, session.RawPipe) error) error {
	return converse(ctx, a, cl, e, c, nil, true, func(conv session.Conversation) error {
		pipe, err := conv.Raw()
		if err != nil {
			return err
		}
		return work(conv, pipe)
	})
}

func converse(ctx context.Context, a *env.Env, cl *env.Deadline, e session.Endpoint, c *options.Client, cat *catalog.Catalog, raw bool, work func(session.Conversation) error) (err error) {
	defer cl.Stop()
	conv, err := open(cl.Ctx, a, e, c, cat, raw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(ctx, conv, &c.Hooks, err)) }()
	cl.Touch()
	return work(conv)
}

// closing closes conv, when what the far side has told us is handled or ctx
// ends, and adds the failure of a hook where it counts: when the answer may have
// depended on it, or always with --strict-hooks.
func closing(ctx context.Context, conv session.Conversation, h *options.Hooks, err error) error {
	settle, cancel := context.WithTimeout(ctx, env.FarewellLimit)
	conv.Settle(settle)
	cancel()
	_ = conv.Close()
	if failed := conv.HookFailure(); failed != nil {
		if f := cmdline.Worst(err); h.Strict || (f != nil && f.Kind == wire.RPCError) {
			return failed
		}
	}
	return nil
}

package commands

import (
	"context"
	"errors"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// converse opens a connection with the flags of a client, has work done on it and
// closes it; then cl is stopped, which bounds the opening and the work. The clock
// begins anew when the connection is there.
func (a *app) converse(ctx context.Context, cl *deadline, e session.Endpoint, c *clientFlags, cat *catalog.Catalog, work func(session.Conversation) error) (err error) {
	defer cl.stop()
	conv, err := a.open(cl.ctx, e, c, cat, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(ctx, conv, &c.hooks, err)) }()
	cl.touch()
	return work(conv)
}

// closing closes conv, when what the far side has told us is handled or ctx
// ends, and adds the failure of a hook where it counts: when the answer may have
// depended on it, or always with --strict-hooks.
func closing(ctx context.Context, conv session.Conversation, h *hookFlags, err error) error {
	settle, cancel := context.WithTimeout(ctx, farewell)
	conv.Settle(settle)
	cancel()
	_ = conv.Close()
	if failed := conv.HookFailure(); failed != nil {
		if f := worst(err); h.strict || (f != nil && f.Kind == wire.RPCError) {
			return failed
		}
	}
	return nil
}

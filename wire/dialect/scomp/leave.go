package scomp

import (
	"context"

	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Shutdown sends release_ref for each function received from the peer, so that it can free them before the connection
// closes.
func (c *codec) Shutdown(ctx context.Context, caller dialect.Caller) error {
	for _, id := range c.refs.held() {
		params := scan.Pair(releasedSpellings[0], scan.AppendQuoted(nil, id))
		if err := caller.Notify(ctx, dialect.Op{Kind: dialect.Internal, Method: releaseWord, Params: params}); err != nil {
			return err
		}
	}
	return nil
}

package request

import (
	"bytes"
	"context"
	"slices"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/params"
	"rpcx/commands/suggest"
	"rpcx/format"
	"rpcx/wire/catalog"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// needsConnection reports whether args (METHOD first) need the peer's description of the method.
func needsConnection(e endpoint.Endpoint, cat *catalog.Catalog, args []string, p options.Params) bool {
	switch {
	case len(args) == 0 || cat != nil || !e.Spec().Params.Typed:
		return false
	case p.DryRun && evicts(e):
		return false
	}
	return !p.NoCheck || slices.ContainsFunc(args[1:], params.IsTyped)
}

// evicts reports whether connecting to e would evict another client.
func evicts(e endpoint.Endpoint) bool {
	return e.Spec().Handshake.OneClient && e.Socket == "" && e.Demo == ""
}

// noteUntyped notes that a dry run has not requested the types of params, because connecting would have evicted another
// client.
func noteUntyped(run *env.Env, e endpoint.Endpoint, cat *catalog.Catalog, p options.Params) {
	if p.DryRun && cat == nil && !p.NoCheck && evicts(e) {
		run.Console.Note("parameters are not checked, because connecting would evict the host's client; give a catalog with --catalog FILE")
	}
}

// DryBatch reports whether a dry run of a batch needs no connection.
func DryBatch(run *env.Env, e endpoint.Endpoint, cat *catalog.Catalog, p options.Params) bool {
	if !p.DryRun || needsConnection(e, cat, []string{"any"}, p) {
		return false
	}
	noteUntyped(run, e, cat, p)
	return true
}

// CheckName returns a usage Fault for an invalid method name of the dialect, with the correct name if known. With
// --no-check, it returns nil.
func CheckName(run *env.Env, e endpoint.Endpoint, method string, subscribe bool, p options.Params) error {
	check := e.Spec().Names.Check
	if p.NoCheck {
		return nil
	}
	if err := suggest.CheckMethod(run, method); err != nil || check == nil {
		return err
	}
	return suggest.Spelling(run, check(method, subscribe))
}

// fromPeer makes the operation of x.Args with the types in the peer's catalog. If the params do not match or have unknown
// names, it requests the catalog again, because the catalog may come from a cache and describe an earlier process.
func (x *exchange) fromPeer(ctx context.Context, conv session.Conversation) (err error) {
	if x.cat, err = x.typing(ctx, conv); err != nil {
		return err
	}
	names, err := x.operation()
	if (err != nil || len(names) > 0) && x.cat != nil && !params.WantStdin(x.Args) {
		if now, nerr := conv.Typing(ctx, x.Args[0]); nerr == nil && now != nil && !sameCatalog(now, x.cat) {
			x.cat = now
			names, err = x.operation()
		}
	}
	WarnTypos(x.Env, x.Args[0], names)
	return err
}

func sameCatalog(a, b *catalog.Catalog) bool {
	x, xerr := a.Marshal()
	y, yerr := b.Marshal()
	return xerr == nil && yerr == nil && bytes.Equal(x, y)
}

// descriptionTimeout bounds the wait for the peer's description of a method in commands that do not require one.
const descriptionTimeout = 3 * time.Second

// typing returns the peer's catalog, which types the params. For a dry run, it waits at most descriptionTimeout.
func (x *exchange) typing(ctx context.Context, conv session.Conversation) (*catalog.Catalog, error) {
	limited := ctx
	if x.Params.DryRun {
		var done context.CancelFunc
		limited, done = context.WithTimeout(ctx, descriptionTimeout)
		defer done()
	}
	cat, err := conv.Typing(limited, x.Args[0])
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		x.Env.Console.Warn("the peer did not describe " + format.CleanLine(x.Args[0]) + " within " + descriptionTimeout.String() + "; parameters are not checked")
		return nil, nil
	}
	return cat, env.Cause(ctx, err)
}

package commands

import (
	"context"
	"errors"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/finding"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// findTimeout is how long a peer whose dialect is not known may be silent
// before it is probed.
const findTimeout = 5 * time.Second

// listens is how long a peer whose dialect is not known may speak first, before it is asked
// anything: a handshake or a greeting shows who it is.
const listens = 300 * time.Millisecond

// fetch asks the peer for its catalog. If the dialect is not named it is found
// out, with four connections at most, of which two may start a command.
func (o *describeOptions) fetch(ctx context.Context, run *env.Env, e endpoint.Endpoint, name string) (*catalog.Catalog, error) {
	typed := run.Line.Args[0]
	plain := func(e endpoint.Endpoint) (*catalog.Catalog, error) {
		return request.FetchCatalog(ctx, run, e, &o.Client, name, o.forPeople(run))
	}
	if !finding.Applies(e, typed, o.Conn.Dialect) {
		return plain(e)
	}
	whole, began := o.Time.Timeout.Or(0), time.Now()
	if known, ok := finding.Known(e); ok && !o.Conn.Refresh && !o.Conn.NoCache {
		c, err := plain(known)
		if err == nil {
			o.found(run, typed, known)
			return c, nil
		}
		if ctx.Err() != nil || whole > 0 && time.Since(began) >= whole {
			return nil, err
		}
	}
	idle := o.Time.Idle
	if !run.Line.Has("idle") {
		o.Time.Idle = cmdline.Duration(findTimeout)
	}
	if !e.Address.IsHTTP() { // where nobody speaks first
		o.Listen = listens
	}
	c, failed := plain(e)
	o.Time.Idle, o.Listen = idle, 0
	left := whole - time.Since(began)
	if failed == nil && !o.Conn.NoCache { // what was found before was of another peer
		cache.ForgetFinding(e)
	}
	if failed == nil || ctx.Err() != nil || whole > 0 && left <= 0 {
		return c, failed
	}
	if whole > 0 { // --timeout is about all of it
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, left)
		defer cancel()
	}
	f := look(ctx, run, e, o, failed)
	if f == nil {
		return nil, failed
	}
	if f.Catalog == nil {
		if f.Starts > 1 && len(e.Address.Command) > 0 { // the user's command was started twice
			f.Keep(e)
			g := wire.NewFault(wire.RPCError, "the peer is spoken with as "+f.Endpoint.String(), nil)
			g.Fix = run.Line.WithArgs(append([]string{f.Endpoint.Over(typed)}, run.Line.Args[1:]...))
			return nil, g
		}
		at := f.Endpoint
		if f.At != nil {
			at = *f.At
		}
		if c, err := plain(at); err == nil {
			f.Catalog = c
		} else {
			return nil, failed
		}
	}
	if !o.Conn.NoCache {
		f.Keep(e)
	}
	o.found(run, typed, f.Endpoint)
	return f.Catalog, nil
}

// look finds out the dialect: by what the peer has sent, else by probing.
func look(ctx context.Context, run *env.Env, e endpoint.Endpoint, o *describeOptions, failed error) *finding.Finding {
	var shown *env.Mismatch
	if errors.As(failed, &shown) {
		better, err := session.ParseEndpoint(shown.Better, "")
		if err != nil {
			return nil
		}
		return &finding.Finding{Endpoint: better, Starts: 1}
	}
	return finding.Look(ctx, run, e, &o.Client, o.probe, failed)
}

// found tells the user how to address the peer.
func (o *describeOptions) found(run *env.Env, typed string, e endpoint.Endpoint) {
	if better := e.Over(typed); better != typed {
		run.Console.Note("it is spoken with as " + better)
		run.Line.Args[0] = better
	}
}

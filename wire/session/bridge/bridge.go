// Package bridge offers what a peer offers to the clients of a listener, in the
// listener's dialect. Its catalog is translated, its answers, errors and events cross
// as they are, and what it asks goes to the client whose call it is at work on.
package bridge

import (
	"context"
	"errors"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// A Bridge is a peer that a listener's clients reach.
type Bridge struct {
	to      endpoint.Endpoint
	spec    dialect.Spec // of to
	options session.Options
	here    dialect.Spec // of the listener
	catalog *catalog.Catalog
	offers  map[string]*offer // by the names of hooks
	open    bool              // the peer does not describe itself: what it is asked for it may have
	shared  *upstream         // of all clients, where the peer has room for one; of POSTs elsewhere
	alone   bool              // each client gets a connection of its own
}

// Options are how a bridge is made.
type Options struct {
	To      endpoint.Endpoint
	Session session.Options // how To is reached
	Listen  endpoint.Endpoint
	Known   *catalog.Catalog // describes To where it does not describe itself; nil: nothing does
}

// New asks the peer what it offers.
func New(ctx context.Context, o Options) (*Bridge, error) {
	b := &Bridge{to: o.To, options: o.Session, here: o.Listen.Spec(), offers: map[string]*offer{}}
	conv, err := session.Open(ctx, o.To, o.Session)
	if err != nil {
		return nil, err
	}
	b.to.Dialect = conv.Dialect()
	b.spec = b.to.Spec()
	b.alone = b.to.Session == "" && b.to.Socket == "" && !b.spec.OneClient
	b.shared = newUpstream(b)
	said, err := conv.Describe(ctx)
	if err := errors.Join(conv.Close(), ctx.Err()); ctx.Err() != nil {
		return nil, err
	}
	var rpc *wire.Error
	f := wire.AsFault(err)
	switch {
	case err == nil:
	case errors.Is(err, wire.ErrUnsupported), errors.As(err, &rpc), f != nil && (f.Kind == wire.Usage || f.Kind == wire.RPCError):
		said, b.open = o.Known, o.Known == nil
	default:
		return nil, err
	}
	if said == nil {
		said = &catalog.Catalog{Catalog: 1}
	}
	b.translate(said)
	if b.spec.Name == b.here.Name { // what is not listed can be said, too
		b.open = true
	}
	return b, nil
}

// Catalog returns what the peer offers as clients of the listener can ask for it.
func (b *Bridge) Catalog() *catalog.Catalog { return b.catalog }

// Close ends the connection that clients share.
func (b *Bridge) Close() error { return b.shared.close() }

// Wrap returns what answers where hooks do not: see session.Options.Bridge.
func (b *Bridge) Wrap(hooks dialect.Backend) dialect.Backend { return &backend{hooks, b} }

// backend is hooks and, behind them, the peer.
type backend struct {
	dialect.Backend
	bridge *Bridge
}

// Bind returns what answers on one connection.
func (b *backend) Bind(c dialect.Caller) dialect.Responder {
	r := &responder{Responder: b.Backend.Bind(c), bridge: b.bridge, client: &client{caller: c}}
	r.policy, _ = b.Backend.(interface{ Allows(name string) bool })
	one, ok := c.(interface{ OneShot() bool })
	if r.up = b.bridge.shared; b.bridge.alone && !(ok && one.OneShot()) {
		r.up, r.own = newUpstream(b.bridge), true
	}
	r.up.join(r.client)
	return r
}

// Runtime returns that of the hooks.
func (b *backend) Runtime() dialect.Runtime {
	if e, ok := b.Backend.(dialect.Evaluator); ok {
		return e.Runtime()
	}
	return nil
}

// HostOptions returns those of the hooks.
func (b *backend) HostOptions() dialect.HostOptions {
	if h, ok := b.Backend.(dialect.HostConfigurer); ok {
		return h.HostOptions()
	}
	return dialect.HostOptions{}
}

// Checked returns c as the hooks have it.
func (b *backend) Checked(c dialect.Caller) dialect.Caller {
	if k, ok := b.Backend.(dialect.CallChecker); ok {
		return k.Checked(c)
	}
	return c
}

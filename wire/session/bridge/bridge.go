// Package bridge offers the methods of a peer to the clients of a listener, in the listener's dialect. It translates the catalog and
// forwards results, errors and events. It forwards a request from the peer to the client that has a call pending there, or calls a hook
// if that client cannot answer.
package bridge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// A Bridge offers one peer to the clients of one listener.
type Bridge struct {
	to      endpoint.Endpoint
	spec    dialect.Spec // the dialect of to
	options session.Options
	here    dialect.Spec
	framing string
	whole   time.Duration
	hooks   []string
	catalog *catalog.Catalog
	offers  map[string]*offer // by hook name
	Lacks   []string          // the peer's methods that are not offered, with the reasons, and other features that are not bridged
	open    bool              // the catalog may be incomplete; requests for any method are forwarded
	shared  *upstream         // for all clients; if alone is set, only for HTTP exchanges
	alone   bool              // each client gets its own connection
	single  atomic.Bool       // the peer accepts only one call on a connection
	calls   pool              // for the calls of clients that can receive requests
}

// Options describes the two sides of a bridge.
type Options struct {
	To      endpoint.Endpoint
	Session session.Options // for the connection to To
	Listen  endpoint.Endpoint
	Known   *catalog.Catalog // the catalog of a peer that does not provide one; may be nil
	// Whole is how long the items of a stream are collected for clients that cannot receive streams (0: one minute).
	Whole time.Duration
	Hooks []string // the exact names of the listener's hooks, which are declared to the peer
}

// wholeTimeout is the default for Options.Whole.
const wholeTimeout = time.Minute

// New connects to the peer, reads its catalog, and closes that connection.
func New(ctx context.Context, o Options) (*Bridge, error) {
	b := &Bridge{to: o.To, options: o.Session, here: o.Listen.Spec(), offers: map[string]*offer{}, framing: o.Listen.FramingName(), whole: cmp.Or(o.Whole, wholeTimeout), hooks: o.Hooks}
	conv, err := session.Open(ctx, o.To, o.Session)
	if err != nil {
		return nil, err
	}
	b.to.Dialect = conv.Dialect()
	b.spec = b.to.Spec()
	b.alone = b.to.Session == "" && b.to.Socket == "" && !b.spec.Handshake.OneClient
	b.shared = newUpstream(b)
	asked := time.Now()
	offered, err := conv.Describe(ctx)
	b.single.Store(b.alone && endsItself(conv, time.Since(asked)))
	if err := errors.Join(conv.Close(), ctx.Err()); ctx.Err() != nil {
		return nil, err
	}
	var rpc *wire.Error
	f := wire.AsFault(err)
	switch {
	case err == nil:
	case errors.Is(err, wire.ErrUnsupported), errors.As(err, &rpc), f != nil && (f.Kind == wire.Usage || f.Kind == wire.RPCError):
		offered, b.open = o.Known, o.Known == nil
	default:
		return nil, err
	}
	offered = cmp.Or(offered, &catalog.Catalog{Catalog: 1})
	// Between equal dialects, names need no translation, and clients can also call methods that are not listed.
	b.open = b.open || b.spec.Name == b.here.Name || offered.WhyPartial() != ""
	b.translate(offered)
	return b, nil
}

// endsItself reports whether the peer closes the connection right after a response, which took the time took. A slow peer, or one
// on a busy machine, gets more time to close it.
func endsItself(conv session.Conversation, took time.Duration) bool {
	select {
	case <-conv.Done():
		return conv.Err() == nil
	case <-time.After(min(max(took, 20*time.Millisecond), 500*time.Millisecond)):
		return false
	}
}

// Catalog returns the peer's catalog, converted to the listener's dialect.
func (b *Bridge) Catalog() *catalog.Catalog { return b.catalog }

// Asks reports whether only the peer calls the hook of that name.
func (b *Bridge) Asks(name string) bool {
	return slices.ContainsFunc(b.spec.Bridge.Client.Asks, func(pattern string) bool { return dialect.Matches(pattern, name) })
}

// Close ends the connections to the peer.
func (b *Bridge) Close() error { return errors.Join(b.shared.close(), b.calls.close()) }

// Wrap returns a backend that forwards requests without a hook to the peer (see session.Options.Bridge).
func (b *Bridge) Wrap(hooks dialect.Backend) dialect.Backend { return &backend{hooks, b} }

// A backend answers requests that have a hook, and forwards the others.
type backend struct {
	dialect.Backend
	bridge *Bridge
}

// Bind returns the responder for one connection.
func (b *backend) Bind(c dialect.Caller) dialect.Responder {
	hooks := b.Backend.Bind(c)
	r := &responder{Responder: hooks, bridge: b.bridge, client: &client{caller: c, hooks: hooks}}
	about := c.Connection()
	switch r.up = b.bridge.shared; {
	case !b.bridge.alone:
	case len(about.Answers) > 0:
		r.up, r.lent = b.bridge.calls.take(b.bridge, about.Answers), true
	case !about.SingleExchange:
		r.up, r.own = newUpstream(b.bridge), true
	}
	r.up.join(r.client)
	if r.own && !b.bridge.here.Bridge.Client.Begins {
		r.connect()
	}
	return r
}

// maxIdle is the maximum number of idle connections to the peer.
const maxIdle = 16

// A pool contains the connections to the peer for clients that can receive requests. Each connection has at most one call, and
// requests from the peer go to the client of that call.
type pool struct {
	mu     sync.Mutex
	idle   []*upstream
	closed bool
}

// take returns a connection whose handshake declared these methods as answered by the client.
func (p *pool) take(b *Bridge, answers []string) *upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.idle, func(u *upstream) bool { return slices.Equal(u.declared(), answers) }); i >= 0 {
		u := p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
		return u
	}
	u := newUpstream(b)
	u.declare(answers)
	return u
}

// give returns an idle connection to the pool, or closes it.
func (p *pool) give(u *upstream) error {
	p.mu.Lock()
	kept := !p.closed && len(p.idle) < maxIdle
	if kept {
		p.idle = append(p.idle, u)
	}
	p.mu.Unlock()
	if kept {
		return nil
	}
	return u.close()
}

// close closes the idle connections. Connections that are given back later are closed at once.
func (p *pool) close() error {
	p.mu.Lock()
	all := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	failed := make([]error, len(all))
	var closing sync.WaitGroup
	for i, u := range all {
		closing.Go(func() { failed[i] = u.close() })
	}
	closing.Wait()
	return errors.Join(failed...)
}

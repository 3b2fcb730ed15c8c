package session

import (
	"cmp"
	"context"
	"net/url"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpclient"
	"rpcx/wire/transport/schemes"
)

// An Await configures how to wait for a peer that connects to rpcx (accept+).
type Await struct {
	// For limits the wait for the first connection. If it is 0, the connect timeout applies.
	For time.Duration
	// Bound is called with the endpoint to which the peer must connect, as soon as connections are accepted. giveUp
	// ends the wait with an error. The function stop, which may be nil, is called when the conversation ends.
	Bound func(at string, giveUp func(error)) (stop func(), err error)
}

// An awaiting waits for the connections that peers make to one endpoint, one at a time.
type awaiting struct {
	mu    sync.Mutex
	bound bool
	stop  func()
}

// defaultAwait is the default limit of the wait for a peer.
const defaultAwait = 10 * time.Second

// dial connects to e, or waits until e's peer connects. Later calls listen at the same address. The wait ends when ctx
// ends.
func (w *awaiting) dial(ctx context.Context, e *endpoint.Endpoint, o Options, cfg transport.Config) (wire.Conn, error) {
	switch {
	case e.Reversed == endpoint.Dial:
		return nil, wire.Usagef("%s: dial+ is for servers; remove it, because clients always connect", e)
	case e.Reversed == "":
		at, err := resolved(ctx, *e, cfg)
		if err != nil {
			return nil, err
		}
		return schemes.Dial(ctx, at, cfg)
	case len(cfg.Header) > 0:
		return nil, wire.Usagef("--header and --token-command do not apply to %s: the peer connects", e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	await := cmp.Or(o.Await, new(Await))
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	if !w.bound {
		limit := cmp.Or(max(await.For, 0), max(cfg.ConnectTimeout, 0), defaultAwait)
		late := time.AfterFunc(limit, func() {
			giveUp(wire.NewFault(wire.Unreachable, "no peer connected within "+limit.String(), nil))
		})
		defer late.Stop()
	}
	conn, err := schemes.Await(ctx, e.Address, cfg, func(at string) error {
		if w.bound {
			return nil
		}
		w.bound = true
		here, err := transport.Parse(at)
		if err != nil {
			return err
		}
		e.Address = here
		if await.Bound != nil {
			w.stop, err = await.Bound(e.Prefixed(at), giveUp)
		}
		return err
	})
	if cause := wire.AsFault(context.Cause(ctx)); err != nil && ctx.Err() != nil && cause != nil {
		err = cause
	}
	return conn, err
}

// resolved returns the address for a conversation. If e refers to an HTTP server that names the address, it must be on
// the same host; otherwise it is the address of e.
func resolved(ctx context.Context, e endpoint.Endpoint, cfg transport.Config) (transport.Address, error) {
	posts := e.ResolvesPost()
	if !posts && !e.Resolves() {
		return e.Address, nil
	}
	u, err := e.Spec().Transport.Resolve(func(path string) ([]byte, error) { return httpclient.Get(ctx, e.Address, path, cfg) })
	if err != nil {
		return transport.Address{}, err
	}
	at, err := e.Address.At(u.RequestURI())
	switch {
	case err != nil:
		return transport.Address{}, err
	case !posts:
		at.Scheme = map[string]string{"http": "ws", "https": "wss", "http+unix": "ws+unix"}[at.Scheme]
	case at.Path == "" && transport.Origin(u) != transport.Origin(&url.URL{Scheme: at.Scheme, Host: at.Host}):
		return transport.Address{}, wire.NewFault(wire.Unreachable, "the server names an endpoint on another host: "+e.Dialect+"+"+u.Redacted(), nil).
			WithHint("if you trust it, use that endpoint; rpcx does not send it the credentials of this one")
	}
	return at, nil
}

// ResolvedEndpoint returns e with the address that its HTTP server names for conversations in e's dialect. ok is false
// if the server does not name one. It sends only a GET, which does not start a conversation.
func ResolvedEndpoint(ctx context.Context, e endpoint.Endpoint, o Options) (at endpoint.Endpoint, ok bool) {
	cfg, err := transportConfig(e, o, e.Spec().Transport.Binary)
	if err != nil || !e.Resolves() && !e.ResolvesPost() {
		return e, false
	}
	at = e
	at.Address, err = resolved(ctx, e, cfg)
	return at, err == nil
}

// end calls the stop function that Bound returned.
func (w *awaiting) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// canListen returns a usage Fault if rpcx cannot listen at e.
func canListen(e endpoint.Endpoint) error {
	if e.Demo != "" || e.Tape != "" || e.Socket != "" {
		return wire.Usagef("%s cannot be a listen address", e)
	}
	if e.Reversed == endpoint.Accept {
		return wire.Usagef("%s: accept+ is for clients that listen", e).WithHint("remove accept+: servers always listen")
	}
	return nil
}

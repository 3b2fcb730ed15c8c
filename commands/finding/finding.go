// Package finding detects the dialect and the framing of a peer with a known address. It also returns the peer's catalog if no further
// requests are necessary.
package finding

import (
	"context"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// Applies reports whether rpcx must detect the dialect of e: typed, the endpoint as the user typed it, names no dialect, and
// repeated connections to the peer are possible.
func Applies(e endpoint.Endpoint, typed, dialectFlag string) bool {
	return dialectFlag == "" && e.Dialect == all.Default() && Reaches(e) && e.Profile == nil && !endpoint.NamesDialect(typed)
}

// Reaches reports whether repeated connections to the address of e are possible.
func Reaches(e endpoint.Endpoint) bool {
	return e.Demo == "" && e.Tape == "" && e.Socket == "" && e.Reversed == "" && e.Address.Scheme != "stdio"
}

// New returns a Prober of the peer of e.
func New(ctx context.Context, run *env.Env, e endpoint.Endpoint, c *options.Client) (*Prober, error) {
	o, err := options.ForSession(ctx, run, &c.Conn, &c.Hooks)
	if err != nil {
		return nil, err
	}
	if e.IsBytes() {
		if o.Transport.Head, err = session.Head(o.Transport.Header); err != nil {
			return nil, err
		}
		o.Transport.Header = nil
	}
	return &Prober{Endpoint: e, Typed: run.Line.Args[0], Session: o}, nil
}

// Look sends requests to the peer of e, without starting a session, until its dialect is known. It returns nil if it detects none.
// failed is the error of the first request for a description. method is the method to describe.
func Look(ctx context.Context, run *env.Env, e endpoint.Endpoint, c *options.Client, method string, failed error) *Report {
	f := wire.AsFault(failed)
	if f == nil {
		return nil
	}
	p, err := New(ctx, run, e, c)
	if err != nil {
		return nil
	}
	p.Method = method
	p.all, p.report = steps(false, p.Method), &Report{}
	if f.HTTP != nil && e.Address.IsHTTP() && p.resolve(ctx, e) { // an HTTP server without JSON-RPC
		return p.report
	}
	switch f.Kind {
	case wire.RPCError:
		return p.once(ctx, e, e.Framing)
	case wire.Protocol:
		if found := p.once(ctx, e, e.Framing); found != nil || len(e.Address.Command) > 0 {
			return found
		}
	case wire.Timeout, wire.Closed:
	default:
		return nil
	}
	if !e.IsBytes() || e.Framing != "" {
		return nil
	}
	return p.once(ctx, e, "header") // a server with this framing sends nothing after a line, and waits for more
}

// once tries one framing over one connection. It returns nil if the result adds nothing to e.
func (p *Prober) once(ctx context.Context, e endpoint.Endpoint, framing string) *Report {
	if e.IsBytes() && framing == "" {
		framing = e.FramingName()
	}
	v := p.attempt(e, framing, 1, paces{first: time.Second, next: time.Second / 2}).run(ctx)
	p.settle(e, v)
	if v == nil || v.weak && v.catalog == nil && p.report.Endpoint.Framing == e.Framing && v.dialect == e.Dialect {
		return nil
	}
	return p.report
}

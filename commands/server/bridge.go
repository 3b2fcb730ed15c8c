package server

import (
	"context"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
	"rpcx/wire/session/bridge"
)

// bridgeFlags make the flags of a bridge.
func (o *Options) bridgeFlags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Text(cmdline.GroupHooks, "to", "", "offer what `ENDPOINT` offers, beside the hooks, in the dialect of LISTEN", &o.To),
	}
}

// Bridge has clients of listen reach the peer of --to where no hook answers; nil where
// there is none. What it returns is to be closed.
func (o *Options) Bridge(ctx context.Context, a *env.Env, listen endpoint.Endpoint, so *session.Options) (*bridge.Bridge, error) {
	if o.To == "" {
		return nil, nil
	}
	to, err := session.ParseEndpoint(o.To, "")
	if err != nil {
		return nil, err
	}
	if to.Profile != nil {
		if err := options.ApplyProfile(a, to.Profile); err != nil {
			return nil, err
		}
	}
	cfg, err := options.TransportConfig(ctx, a, &o.Conn)
	if err != nil {
		return nil, err
	}
	so.Transport.Header = nil
	bo := bridge.Options{To: to, Listen: listen, Session: session.Options{
		Transport: cfg, Cache: so.Cache, Note: so.Note, Hurry: so.Hurry, Await: so.Await, Info: so.Info,
	}}
	bo.Session.Hook.Warn, bo.Session.Hook.Stderr = so.Hook.Warn, so.Hook.Stderr
	if o.Catalog != "" {
		bo.Known = so.Catalog
	}
	b, err := bridge.New(ctx, bo)
	if err != nil {
		return nil, err
	}
	if err := so.Catalog.Join(b.Catalog()); err != nil {
		_ = b.Close()
		return nil, wire.NewFault(wire.Usage, "--to: "+err.Error(), err)
	}
	if so.Catalog.Info.Name == unnamed {
		so.Catalog.Info = b.Catalog().Info
	}
	so.Bridge = b.Wrap
	return b, nil
}

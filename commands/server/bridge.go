package server

import (
	"context"
	"slices"
	"strings"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
	"rpcx/wire/session/bridge"
)

// Passes reports whether rpcx forwards all messages of clients of listen unchanged, because both sides have the same
// dialect, no local hook or policy applies, and the peer accepts clients of all versions.
func (o *Options) Passes(ctx context.Context, run *env.Env, listen, to endpoint.Endpoint, so session.Options) bool {
	if o.To == "" || to.Dialect != listen.Dialect || to.Socket != "" {
		return false
	}
	silent := len(so.Hooks) == 0 && o.Catalog == "" && so.Runtime == "" && len(so.Allow) == 0 && len(so.Deny) == 0 && so.Hook.OnOpen == nil
	return silent && listen.Reversed == "" && o.acceptsAll(ctx, run, to, so)
}

// versionsTimeout bounds the request for a peer's versions.
const versionsTimeout = 10 * time.Second

// acceptsAll reports whether the peer at to accepts clients of all versions. If the request fails, it returns true, and
// the clients get the peer's error.
func (o *Options) acceptsAll(ctx context.Context, run *env.Env, to endpoint.Endpoint, so session.Options) bool {
	unchanged := to.Spec().Handshake.Unchanged
	if unchanged == nil {
		return true
	}
	cfg, err := options.TransportConfig(ctx, run, &o.Conn)
	if err != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, versionsTimeout)
	defer cancel()
	conv, err := session.Open(ctx, to, session.Options{Transport: cfg, Hurry: so.Hurry, Info: so.Info})
	if err != nil {
		return true
	}
	defer func() { _ = conv.Close() }()
	return unchanged(ctx, conv.Open)
}

// Peer returns the peer of --to, if any, and sets the flags that the peer's profile determines.
func (o *Options) Peer(run *env.Env, listen endpoint.Endpoint) (to endpoint.Endpoint, err error) {
	if o.To == "" {
		return to, nil
	}
	if to, err = session.ParseEndpoint(o.To, ""); err == nil {
		err = applyBetween(run, listen, to)
	}
	return to, err
}

// applyBetween checks the flags for a listener that forwards to the peer at to, and applies the peer's profile.
func applyBetween(run *env.Env, listen, to endpoint.Endpoint) error {
	s := options.ForPeer(run.Line, to)
	s.Listens = []endpoint.Endpoint{listen}
	if err := s.With(to.Profile).Check(run.Line); err != nil {
		return err
	}
	return options.ApplyTo(run, to)
}

// Pass forwards all messages between the clients of listen and the peer at to unchanged.
func (o *Options) Pass(ctx context.Context, run *env.Env, listen, to endpoint.Endpoint, so session.Options, command []string) error {
	if run.Line.Has("wait") && to.Reversed == "" {
		return run.Line.Usage("--wait does not apply to a bridge that passes messages unchanged").
			WithHint("the commands of clients have --wait")
	}
	cfg, err := options.TransportConfig(ctx, run, &o.Conn)
	if err != nil {
		return err
	}
	bind := so.Transport
	bind.Header = nil
	t, err := session.ListenTap(ctx, listen, to, session.Options{Transport: cfg, Tap: so.Tap, Hook: so.Hook, Await: so.Await, Record: so.Record, Hurry: so.Hurry}, bind)
	if err != nil {
		return err
	}
	return Serve(ctx, t, command, o.Conn.Listen.File)
}

// Bridge returns a bridge that passes requests without a hook to the peer of --to, or nil without --to. The caller must
// close it.
func (o *Options) Bridge(ctx context.Context, run *env.Env, listen, to endpoint.Endpoint, so *session.Options) (*bridge.Bridge, error) {
	if o.To == "" {
		return nil, nil
	}
	cfg, err := options.TransportConfig(ctx, run, &o.Conn)
	if err != nil {
		return nil, err
	}
	_, settings, err := o.set.Split(run.Line, to)
	if err != nil {
		return nil, err
	}
	so.Transport.Header = nil
	bo := bridge.Options{To: to, Listen: listen, Session: session.Options{
		Transport: cfg, Cache: so.Cache, Note: so.Note, Hurry: so.Hurry, Await: so.Await, Info: so.Info, Settings: settings, Logs: so.Logs,
	}}
	for _, e := range so.Hooks {
		if !strings.Contains(e.Pattern, "*") {
			bo.Hooks = append(bo.Hooks, e.Pattern)
		}
	}
	bo.Session.Hook.Warn, bo.Session.Hook.Stderr = so.Hook.Warn, so.Hook.Stderr
	if o.Catalog != "" {
		bo.Known = so.Catalog
	}
	bo.Session.Resend = request.Resend(run, func() {})
	var b *bridge.Bridge
	if err := request.WaitReached(ctx, run, func() (err error) {
		b, err = bridge.New(ctx, bo)
		return err
	}); err != nil {
		return nil, err
	}
	if len(b.Lacks) > 0 {
		run.Console.Warn("the bridge does not offer " + strings.Join(b.Lacks, ", "))
	}
	if o.Catalog == "" { // the catalog lists the hooks
		so.Catalog.Methods = slices.DeleteFunc(so.Catalog.Methods, func(m catalog.Method) bool { return b.Asks(m.Name) })
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

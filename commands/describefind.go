package commands

import (
	"context"
	"errors"
	"slices"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/finding"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// findTimeout bounds the wait for a peer of an unknown dialect before rpcx sends probes.
const findTimeout = 5 * time.Second

// listenTime bounds the wait for a first message that may reveal the peer's dialect.
const listenTime = 300 * time.Millisecond

// A search requests the catalog of a peer, and detects a dialect that the endpoint does not name.
type search struct {
	*describeOptions
	run      *env.Env
	typed    string // the endpoint as typed by the user
	endpoint endpoint.Endpoint
	name     string // the name of a method or a module, or "" for the whole catalog
}

// fetch requests the catalog of the peer. If the endpoint names no dialect, it detects the dialect with at most four
// connections, of which at most two start a command.
func (o *describeOptions) fetch(ctx context.Context, run *env.Env, e endpoint.Endpoint, name string) (*catalog.Catalog, error) {
	s := &search{o, run, run.Line.Args[0], e, name}
	switch {
	case o.probe && finding.Reaches(e):
		return s.probeAll(ctx)
	case !finding.Applies(e, s.typed, o.Conn.Dialect):
		return s.ask(ctx, e, s.bounded())
	}
	whole, began := o.Time.Timeout.Or(0), time.Now() // --timeout bounds the whole search
	c, failed := s.askAsTyped(ctx)
	if failed == nil || ctx.Err() != nil || whole > 0 && time.Since(began) >= whole {
		return c, failed
	}
	if whole > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, whole-time.Since(began))
		defer cancel()
	}
	f := s.look(ctx, failed)
	if f == nil {
		return nil, failed
	}
	return s.catalogOf(ctx, f, failed)
}

// ask requests the catalog of the peer of e.
func (s *search) ask(ctx context.Context, e endpoint.Endpoint, o options.Client) (*catalog.Catalog, error) {
	return request.FetchCatalog(ctx, s.run, e, &o, s.name, s.forPeople(s.run))
}

// bounded returns the options. For a peer without a handshake, which gets a single request, it sets a short idle
// timeout.
func (s *search) bounded() options.Client {
	o := s.Client
	if spec := s.endpoint.Spec(); !s.run.Line.Has("idle") && spec.Discovery == nil && !spec.Handshake.Introduces && !spec.Handshake.ServerFirst && finding.Reaches(s.endpoint) {
		o.Time.Idle = cmdline.Duration(findTimeout)
	}
	return o
}

// askAsTyped requests the catalog of a peer that may have another dialect, and may send the first message.
func (s *search) askAsTyped(ctx context.Context) (*catalog.Catalog, error) {
	o := s.bounded()
	if !s.endpoint.Address.IsHTTP() { // an HTTP server never sends first
		o.Listen = listenTime
	}
	return s.ask(ctx, s.endpoint, o)
}

// catalogOf returns the catalog of the peer in f. failed is the error for the typed endpoint.
func (s *search) catalogOf(ctx context.Context, f *finding.Finding, failed error) (*catalog.Catalog, error) {
	if f.Catalog == nil && f.Starts > 1 && len(s.endpoint.Address.Command) > 0 { // the user's command has been started twice
		g := wire.NewFault(wire.RPCError, "the endpoint to use is "+f.Endpoint.String(), nil)
		better := *s.run.Line
		if f.Endpoint.Dialect == all.Default() { // only the framing is known
			better.Flags = append(slices.Clone(better.Flags), "--probe")
		}
		g.Fix = better.WithArgs(append([]string{f.Endpoint.Over(s.typed)}, better.Args[1:]...))
		return nil, g
	}
	if f.Catalog == nil {
		at := f.Endpoint
		if f.At != nil {
			at = *f.At
		}
		var err error
		if f.Catalog, err = s.ask(ctx, at, s.Client); err != nil {
			return nil, failed
		}
	}
	if better := f.Endpoint.Over(s.typed); better != s.typed {
		s.run.Console.Note("the endpoint to use is " + better)
		s.run.Line.Args[0] = better
	}
	return f.Catalog, nil
}

// look detects the dialect from the peer's first bytes, or else with requests.
func (s *search) look(ctx context.Context, failed error) *finding.Finding {
	if shown, ok := errors.AsType[*env.Mismatch](failed); ok {
		better, err := session.ParseEndpoint(shown.Better, "")
		if err != nil {
			return nil
		}
		return &finding.Finding{Endpoint: better, Starts: 1}
	}
	return finding.Look(ctx, s.run, s.endpoint, &s.Client, s.name, failed)
}

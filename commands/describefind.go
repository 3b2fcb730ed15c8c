package commands

import (
	"cmp"
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
	if o.probe && finding.Reaches(e) {
		return s.probeAll(ctx)
	}
	bounded := s.bounded()
	if !finding.Applies(e, s.typed, o.Conn.Dialect) {
		return s.ask(ctx, e, bounded)
	}
	if !e.Address.IsHTTP() { // an HTTP server never sends first
		bounded.Listen = listenTime
	}
	whole, began := o.Time.Timeout.Or(0), time.Now() // --timeout bounds the whole search
	c, failed := s.ask(ctx, e, bounded)
	if failed == nil || ctx.Err() != nil || whole > 0 && time.Since(began) >= whole {
		return c, failed
	}
	if whole > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, whole-time.Since(began))
		defer cancel()
	}
	r := s.look(ctx, failed)
	if r == nil {
		return nil, failed
	}
	return s.catalogOf(ctx, r, failed)
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

// catalogOf returns the catalog of the peer in r. failed is the error for the typed endpoint.
func (s *search) catalogOf(ctx context.Context, r *finding.Report, failed error) (*catalog.Catalog, error) {
	better := r.Endpoint.Over(s.typed)
	if r.Catalog == nil && len(r.Tried) > 0 && len(s.endpoint.Address.Command) > 0 { // the user's command has been started twice
		l := *s.run.Line
		if r.Endpoint.Dialect == all.Default() { // only the framing is known
			l.Flags = append(slices.Clone(l.Flags), "--probe")
		}
		fix := l.WithArgs(append([]string{better}, l.Args[1:]...))
		return nil, &wire.Fault{Kind: wire.RPCError, Message: "the endpoint to use is " + r.Endpoint.String(), Fix: fix}
	}
	c := r.Catalog
	if c == nil {
		var err error
		if c, err = s.ask(ctx, *cmp.Or(r.At, r.Endpoint), s.Client); err != nil {
			return nil, failed
		}
	}
	if better != s.typed {
		s.run.Console.Note("the endpoint to use is " + better)
		s.run.Line.Args[0] = better
	}
	return c, nil
}

// look detects the dialect from the peer's first bytes, or else with requests. It returns nil if it detects none.
func (s *search) look(ctx context.Context, failed error) *finding.Report {
	shown, ok := errors.AsType[*env.Mismatch](failed)
	if !ok {
		return finding.Look(ctx, s.run, s.endpoint, &s.Client, s.name, failed)
	}
	better, err := session.ParseEndpoint(shown.Better, "")
	if err != nil {
		return nil
	}
	return &finding.Report{Endpoint: &better}
}

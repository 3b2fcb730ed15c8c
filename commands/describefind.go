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

// findTimeout is how long a peer whose dialect is not known may be silent
// before it is probed.
const findTimeout = 5 * time.Second

// listens is how long a peer whose dialect is not known may speak first, before it is asked
// anything: a handshake or a greeting shows who it is.
const listens = 300 * time.Millisecond

// A search asks a peer for its catalog, and finds out its dialect if that is not named.
type search struct {
	*describeOptions
	run      *env.Env
	typed    string // the endpoint, as the user wrote it
	endpoint endpoint.Endpoint
	name     string // of a method or a module; "": all is asked for
}

// fetch asks the peer for its catalog. If the dialect is not named it is found
// out, with four connections at most, of which two may start a command.
func (o *describeOptions) fetch(ctx context.Context, run *env.Env, e endpoint.Endpoint, name string) (*catalog.Catalog, error) {
	s := &search{o, run, run.Line.Args[0], e, name}
	switch {
	case o.probe && finding.Reaches(e):
		return s.probeAll(ctx)
	case !finding.Applies(e, s.typed, o.Conn.Dialect):
		return s.ask(ctx, e, s.bounded())
	}
	whole, began := o.Time.Timeout.Or(0), time.Now() // --timeout is about all of it
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

// ask asks the peer at e for its catalog.
func (s *search) ask(ctx context.Context, e endpoint.Endpoint, o options.Client) (*catalog.Catalog, error) {
	return request.FetchCatalog(ctx, s.run, e, &o, s.name, s.forPeople(s.run))
}

// bounded returns the options of a peer that is soon taken for silent, if it has no handshake: there is one request, which
// it answers or not.
func (s *search) bounded() options.Client {
	o := s.Client
	if spec := s.endpoint.Spec(); !s.run.Line.Has("idle") && spec.Discovery == nil && !spec.Handshake.Introduces && !spec.Handshake.ServerFirst && finding.Reaches(s.endpoint) {
		o.Time.Idle = cmdline.Duration(findTimeout)
	}
	return o
}

// askAsTyped asks a peer that may speak another dialect: it may speak first.
func (s *search) askAsTyped(ctx context.Context) (*catalog.Catalog, error) {
	o := s.bounded()
	if !s.endpoint.Address.IsHTTP() { // where nobody speaks first
		o.Listen = listens
	}
	return s.ask(ctx, s.endpoint, o)
}

// catalogOf returns the catalog of the peer that f has found; failed is why the peer did not
// answer as it was typed.
func (s *search) catalogOf(ctx context.Context, f *finding.Finding, failed error) (*catalog.Catalog, error) {
	if f.Catalog == nil && f.Starts > 1 && len(s.endpoint.Address.Command) > 0 { // the user's command was started twice
		g := wire.NewFault(wire.RPCError, "the endpoint to use is "+f.Endpoint.String(), nil)
		better := *s.run.Line
		if f.Endpoint.Dialect == all.Default() { // the framing alone is known
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

// look finds out the dialect: by what the peer has sent, else by asking it.
func (s *search) look(ctx context.Context, failed error) *finding.Finding {
	var shown *env.Mismatch
	if errors.As(failed, &shown) {
		better, err := session.ParseEndpoint(shown.Better, "")
		if err != nil {
			return nil
		}
		return &finding.Finding{Endpoint: better, Starts: 1}
	}
	return finding.Look(ctx, s.run, s.endpoint, &s.Client, s.name, failed)
}

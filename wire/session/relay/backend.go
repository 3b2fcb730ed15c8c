package relay

import (
	"context"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// A Backend is the conversation that a socket offers to other processes.
type Backend interface {
	Open(ctx context.Context, op dialect.Op) (dialect.Stream, error)
	Notify(ctx context.Context, op dialect.Op) error
	Event(m *wire.Message, ev *wire.Event) error
	Describe(ctx context.Context) (*catalog.Catalog, error)
	Typing(ctx context.Context, method string) (*catalog.Catalog, error)
}

// A PeerBackend is the Backend for a connection that this process owns.
type PeerBackend struct {
	dialect.Caller
	Codec dialect.Codec
}

// Event sets ev to the event that m contains.
func (l PeerBackend) Event(m *wire.Message, ev *wire.Event) error {
	if m.Event != nil {
		*ev = *m.Event
		return nil
	}
	return l.Codec.Event(m, ev)
}

// Open starts op. For operations on jobs, it runs a flow of the dialect.
func (l PeerBackend) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	if op.Kind < dialect.JobRun {
		return l.Caller.Open(ctx, op)
	}
	job := l.Codec.Abilities().Job
	if job == nil {
		return nil, wire.Usagef("the dialect has no jobs")
	}
	return job(ctx, l.Caller, op)
}

// Describe requests the peer's catalog.
func (l PeerBackend) Describe(ctx context.Context) (*catalog.Catalog, error) {
	describe := l.Codec.Abilities().Describe
	if describe == nil {
		return nil, wire.Usagef("the dialect has no request for the catalog")
	}
	return catalog.Received(describe(ctx, l.Caller))
}

// Typing returns a catalog with the schemas of method's params, or nil.
func (l PeerBackend) Typing(ctx context.Context, method string) (*catalog.Catalog, error) {
	typing := l.Codec.Abilities().Typing
	if typing == nil {
		return nil, nil
	}
	c, err := typing(ctx, l.Caller, method)
	if c == nil || err != nil {
		return nil, err
	}
	return catalog.Received(c, nil)
}

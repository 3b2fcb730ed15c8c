package session

import (
	"context"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// A backend is what a socket offers to other processes: the far side of a
// connection.
type backend interface {
	Open(ctx context.Context, op dialect.Op) (dialect.Stream, error)
	Notify(ctx context.Context, op dialect.Op) error
	Event(m wire.Message) (wire.Event, error)
	Describe(ctx context.Context) (*catalog.Catalog, error)
	Typing(ctx context.Context, method string) (*catalog.Catalog, error)
}

// directBackend is the speaker of one connection.
type directBackend struct {
	dialect.Caller
	codec dialect.Codec
}

// directBackendOf is the speaker of a connection that a peer has.
func directBackendOf(c dialect.Caller) directBackend {
	if p, ok := c.(interface{ Codec() dialect.Codec }); ok {
		return directBackend{c, p.Codec()}
	}
	return directBackend{Caller: c}
}

// Event is what a user sees of m.
func (l directBackend) Event(m wire.Message) (wire.Event, error) {
	if m.Event != nil {
		return *m.Event, nil
	}
	return l.codec.Event(m)
}

// Open starts op. What is done with jobs is a flow of the dialect's.
func (l directBackend) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	if op.Kind < dialect.JobRun {
		return l.Caller.Open(ctx, op)
	}
	jobber, ok := l.codec.(dialect.JobRunner)
	if !ok {
		return nil, wire.Usagef("the dialect has no jobs")
	}
	return jobber.Job(ctx, l.Caller, op)
}

// Describe asks the far side for what it offers.
func (l directBackend) Describe(ctx context.Context) (*catalog.Catalog, error) {
	describer, ok := l.codec.(dialect.Describer)
	if !ok {
		return nil, wire.Usagef("the dialect has no way to ask what the far side offers")
	}
	return catalog.Received(describer.Describe(ctx, l.Caller))
}

// Typing is the catalog by which the params of method are typed; nil where the
// dialect tells none.
func (l directBackend) Typing(ctx context.Context, method string) (*catalog.Catalog, error) {
	typer, ok := l.codec.(dialect.SchemaProvider)
	if !ok {
		return nil, nil
	}
	c, err := typer.Typing(ctx, l.Caller, method)
	if c == nil || err != nil {
		return nil, err
	}
	return catalog.Received(c, nil)
}

package dialect

import (
	"context"

	"rpcx/wire"
)

// FlowControl bounds the memory of answers that the peer has not read yet. The answerer of a request calls Await before
// it makes the answer, and again if it has waited for something else since.
type FlowControl interface {
	// Await waits until an answer is allowed. If that will never happen, the error, a
	// *wire.Error, is the answer.
	Await() error
	// Free reports whether Await would return at once, without an error.
	Free() bool
	// Request is the id of the request that is being answered, or nil if there is none.
	Request() wire.ID
}

// flowControlKey is the key of a context's FlowControl.
type flowControlKey struct{}

// WithFlowControl returns a copy of ctx from which FlowControlOf returns r.
func WithFlowControl(ctx context.Context, r FlowControl) context.Context {
	return context.WithValue(ctx, flowControlKey{}, r)
}

// FlowControlOf returns the FlowControl for the answer to the request of ctx. If none was set, it returns one that
// never waits.
func FlowControlOf(ctx context.Context) FlowControl {
	if r, ok := ctx.Value(flowControlKey{}).(FlowControl); ok {
		return r
	}
	return unlimited{}
}

type unlimited struct{}

func (unlimited) Await() error     { return nil }
func (unlimited) Free() bool       { return true }
func (unlimited) Request() wire.ID { return nil }

// Commands are the running commands of a connection's hooks, by hook id.
type Commands interface {
	// Suspend releases the slot of a command that waits for a nested call; resume takes the slot again.
	Suspend(hook string) (resume func())
	// Request is the id of the request that a command answers, or nil if there is none.
	Request(hook string) wire.ID
}

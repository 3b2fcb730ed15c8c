package dialect

import (
	"context"

	"rpcx/wire"
)

// Room is the memory that answers may take until the far side has read them. Who
// answers asks for it again once it has waited for something else.
type Room interface {
	// Await waits until there is room for an answer. The error, a *wire.Error, is
	// the answer where there will be none.
	Await() error
	// Free reports whether Await would return at once, without an error.
	Free() bool
	// Request is the id of the request that is being answered; nil: none.
	Request() wire.ID
}

// roomKey is the key of a context's Room.
type roomKey struct{}

// WithRoom returns ctx with the room that RoomOf returns.
func WithRoom(ctx context.Context, r Room) context.Context {
	return context.WithValue(ctx, roomKey{}, r)
}

// RoomOf returns the room for the answer to the request that ctx belongs to; an
// unbounded one where none was set.
func RoomOf(ctx context.Context) Room {
	if r, ok := ctx.Value(roomKey{}).(Room); ok {
		return r
	}
	return boundless{}
}

type boundless struct{}

func (boundless) Await() error     { return nil }
func (boundless) Free() bool       { return true }
func (boundless) Request() wire.ID { return nil }

// Commands are the commands that hooks of a connection run, each by its hook id.
type Commands interface {
	// Suspend frees the slot of one that waits for a nested call; resume takes it again.
	Suspend(hook string) (resume func())
	// Request is the id of the request that one answers; nil: none.
	Request(hook string) wire.ID
}

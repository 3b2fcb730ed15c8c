package hook

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A runningCommand is a running command, with the slot that it holds.
type runningCommand struct {
	slots     *share
	request   wire.ID // the id of the request that it answers, or nil
	mu        sync.Mutex
	suspended int
	ended     bool
}

// These are the maximum numbers of streams of commands that run at once. They hold no slot, because they may run
// forever.
const (
	MaxStreams       = 512
	maxClientStreams = MaxStreams / 2
)

// hold waits for a slot and returns an id for the command that gets it. While the flow control makes the answer wait,
// no slot is held. A stream counts towards MaxStreams instead.
func (b *ConnectionHooks) hold(ctx context.Context, stream bool) (id string, release func(), err error) {
	room, slots := dialect.FlowControlOf(ctx), &b.commands
	if stream {
		if slots = &b.streams; !slots.claim(maxClientStreams) {
			return "", nil, errTooManyStreams
		}
	} else if err := slots.acquireWith(ctx, room); err != nil {
		return "", nil, err
	}
	h := &runningCommand{slots: slots, request: room.Request()}
	id = b.newID()
	b.mu.Lock()
	b.running[id] = h
	b.mu.Unlock()
	return id, func() {
		b.mu.Lock()
		delete(b.running, id)
		b.mu.Unlock()
		h.end()
	}, nil
}

var errTooManyStreams = errors.New("too many streams")

func (b *ConnectionHooks) newID() string { return "h" + strconv.FormatInt(b.t.lastID.Add(1), 10) }

// Suspend releases the slot of the command with that hook id while its nested call is pending. resume takes the slot
// again without waiting. Both do nothing if no such command runs, so that a late resume is harmless.
func (b *ConnectionHooks) Suspend(hook string) (resume func()) {
	b.mu.Lock()
	h := b.running[hook]
	b.mu.Unlock()
	if h == nil {
		return func() {}
	}
	h.change(+1)
	return sync.OnceFunc(func() { h.change(-1) })
}

// Request returns the id of the request that the command with that hook id answers, or nil if no such command runs.
func (b *ConnectionHooks) Request(hook string) wire.ID {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h := b.running[hook]; h != nil {
		return h.request
	}
	return nil
}

func (h *runningCommand) change(by int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.suspended
	h.suspended += by
	switch {
	case h.ended:
	case before == 0:
		h.slots.release()
	case h.suspended == 0:
		h.slots.retake()
	}
}

func (h *runningCommand) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended && h.suspended == 0 {
		h.slots.release()
	}
	h.ended = true
}

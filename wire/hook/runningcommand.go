package hook

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/transport/child"
)

// A runningCommand is a running command that occupies a slot.
type runningCommand struct {
	slots     *share
	request   wire.ID // the id of the request that the command answers, or nil
	mu        sync.Mutex
	suspended int
	ended     bool
}

// MaxStreams is the maximum number of running commands for streams, and maxClientStreams is the maximum for one client.
// Streams occupy no slots, because they can run forever.
const (
	MaxStreams       = 512
	maxClientStreams = MaxStreams / 2
)

// hold waits for a slot, and returns an id for the command that will occupy it. While flow control delays the answer,
// hold occupies no slot. A stream counts towards MaxStreams instead.
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

// Suspend releases the slot of the command with that hook id while the command waits for its own call. resume occupies
// the slot again without waiting. Both do nothing after the command has ended.
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

// Request returns the id of the request that the command with that hook id is answering, or nil.
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

// checkInterval is the interval at which background process groups are checked. It is short because the system can reuse the
// number of a group that has ended.
const checkInterval = time.Second

// keep waits until the process group of a command that has answered has ended, because its background processes may call
// the peer. When the connection is closed, keep kills the group.
func (b *ConnectionHooks) keep(p *child.Process) {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	for p.LeftBehind() {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			p.EndWithin(b.t.o.Hurry, grace)
			return
		}
	}
}

package session

import (
	"context"
	"slices"
	"sync"

	"rpcx/wire"
)

// A rawHub delivers the peer's messages to the commands that use the conversation in raw form.
type rawHub struct {
	d        *Direct
	lossy    bool                 // a pipe that is too slow ends
	notified func(m wire.Message) // receives every notification; may be nil
	reserve  func(id wire.ID)     // called for each parked call; may be nil

	mu    sync.Mutex
	pipes []*rawPipe
}

// incoming implements peer.Options.Incoming. It delivers a request without a hook to the newest pipe, and every other
// message to all pipes.
func (h *rawHub) incoming(l *link, m wire.Message) bool {
	isRequest := m.Kind == wire.Request
	hooked := (isRequest || m.Kind == wire.Notification) && h.d.responder.answers(m.Method)
	if hooked && isRequest {
		if h.reserve != nil && h.d.responder.parks(m.Method) {
			h.reserve(m.ID)
		}
		return false
	}
	h.mu.Lock()
	pipes := slices.Clone(h.pipes)
	h.mu.Unlock()
	if isRequest {
		return offer(pipes, l, m)
	}
	taken := false
	if h.notified != nil && m.Kind == wire.Notification {
		h.notified(m)
		taken = true
	}
	for _, p := range pipes {
		taken = p.push(l, m) || taken
	}
	return taken && !hooked
}

// offer offers a request to the pipes, newest first, until one accepts. Pipes that can only reject it, because their
// user sends nothing more, are last.
func offer(pipes []*rawPipe, l *link, m wire.Message) bool {
	for _, mute := range []bool{false, true} {
		for _, p := range slices.Backward(pipes) {
			if p.isDraining() == mute && p.push(l, m) {
				return true
			}
		}
	}
	return false
}

// claim records responses to the peer's requests with these ids. Each request has one response, regardless of the pipe
// that received it. Requests of a lost connection have no response, because their ids may be in use again. A connection
// with a single user does not check ids.
func (h *rawHub) claim(ids []wire.ID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	owners := make([]*rawPipe, len(ids))
	for i, id := range ids {
		for _, p := range h.pipes {
			if p.has(id) {
				owners[i] = p
			}
		}
		if owners[i] == nil && (h.lossy || h.d.o.Reconnect != nil) {
			return wire.Usagef("no request with the id %s is open on this connection", id)
		}
	}
	for i, p := range owners {
		if p != nil {
			p.answered(ids[i])
		}
	}
	return nil
}

// disconnected records the loss of a link. Its requests no longer need responses.
func (h *rawHub) disconnected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pipes {
		p.mu.Lock()
		p.openRequests = nil
		p.mu.Unlock()
	}
}

// stop ends every pipe.
func (h *rawHub) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pipes {
		p.Stop()
	}
}

// end ends every pipe with a reason for its user.
func (h *rawHub) end(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pipes {
		p.mu.Lock()
		if !p.ended {
			p.err = why
		}
		p.mu.Unlock()
		p.Stop()
	}
}

// join adds a pipe.
func (h *rawHub) join() *rawPipe {
	r := &rawPipe{hub: h, slow: make(chan struct{})}
	r.ctx, r.forget = context.WithCancel(context.Background())
	r.cond = sync.NewCond(&r.mu)
	h.mu.Lock()
	h.pipes = append(h.pipes, r)
	h.mu.Unlock()
	return r
}

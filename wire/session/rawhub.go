package session

import (
	"context"
	"slices"
	"sync"

	"rpcx/wire"
)

// A rawHub delivers the peer's messages to the commands that use the raw traffic of a conversation.
type rawHub struct {
	d     *Direct
	mu    sync.Mutex
	pipes []*rawPipe
}

// incoming implements peer.Options.Incoming. It delivers a request without a hook to the newest pipe, and any other
// message to all pipes.
func (h *rawHub) incoming(l *link, m wire.Message) bool {
	shared, isRequest := h.d.o.Shared, m.Kind == wire.Request
	hooked := (isRequest || m.Kind == wire.Notification) && h.d.responder.answers(m.Method)
	if hooked && isRequest {
		if shared != nil && h.d.responder.parks(m.Method) {
			shared.Reserve(m.ID)
		}
		return false
	}
	h.mu.Lock()
	pipes := slices.Clone(h.pipes)
	h.mu.Unlock()
	if isRequest {
		return offer(pipes, l, m)
	}
	taken := shared != nil && m.Kind == wire.Notification
	if taken {
		shared.Notified(m)
	}
	for _, p := range pipes {
		taken = p.push(l, m) || taken
	}
	return taken && !hooked
}

// offer passes a request to the first pipe that accepts it, starting with the newest. Pipes that could only reject it,
// because their user no longer sends, come last.
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

// claim records that the user is about to respond to the peer's requests with these ids. Each request can have only one
// response, whichever pipe received the request. Requests on a lost connection can have none, because their ids may be
// in use again. On a connection with only one user, ids are not checked.
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
		if owners[i] == nil && (h.d.o.Shared != nil || h.d.o.Reconnect != nil) {
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

// disconnected records the loss of a link. Responses to its requests are no longer necessary.
func (h *rawHub) disconnected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pipes {
		p.mu.Lock()
		p.openRequests = nil
		p.mu.Unlock()
	}
}

// end ends every pipe. why is the reason that its user receives, or nil.
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

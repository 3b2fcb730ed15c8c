package server

import (
	"context"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/program"
)

// The limits of the kept messages that end a call or stream. They are needed only until the
// handlers of earlier requests have begun, which takes no longer than a few more messages.
const (
	maxEndings   = 64
	endingsBytes = 4 << 10 // bytes of the params of each; a longer message ends only calls that have begun
)

// running is a wrapped call whose hook has not answered yet.
type running struct {
	order   uint64        // of its request
	params  program.Scope // the variables of its request
	cancel  context.CancelFunc
	stopped atomic.Bool // it was stopped by the client, with the page's own message
}

// An ending is a message of the client that ends calls or streams. It is kept because the handler
// of an earlier request may begin only after it was handled.
type ending struct {
	order uint64
	msg   wire.Message
}

// endsLocked stores an ending.
func (h *handler) endsLocked(in *dialect.Inbound) {
	if len(in.Msg.Params) > endingsBytes {
		return
	}
	if len(h.endings) == maxEndings {
		h.endings = append(h.endings[:0], h.endings[1:]...)
	}
	h.endings = append(h.endings, ending{in.Order, wire.Message{Method: in.Msg.Method, Params: in.Msg.Params}})
}

// run registers a running call. It returns the hook's context, which ends when the call is stopped;
// it may have ended already.
func (h *handler) run(ctx context.Context, in *dialect.Inbound, sc *program.Scope) (context.Context, *running) {
	ctx, cancel := context.WithCancel(ctx)
	r := &running{order: in.Order, params: *sc, cancel: cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running[r] = true
	for i := range h.endings {
		if e := &h.endings[i]; h.stops(e.msg.Method) {
			h.stopLocked(r, e)
		}
	}
	return ctx, r
}

// ran notes that the hook of a call has answered.
func (h *handler) ran(r *running) {
	r.cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, r)
}

// stops reports whether the page's clients stop calls with notifications of that method.
func (h *handler) stops(method string) bool {
	rule := h.d.Page.Serve.Stop
	return rule != nil && h.Serving && method == rule.Notify
}

// stop ends the calls that a notification names, if it is the one with which
// the page's clients stop calls.
func (h *handler) stop(in *dialect.Inbound) {
	if !h.stops(in.Msg.Method) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endsLocked(in)
	for r := range h.running {
		h.stopLocked(r, &ending{in.Order, in.Msg})
	}
}

// stopLocked ends a call if a later message of the client has ended it already.
func (h *handler) stopLocked(r *running, e *ending) {
	if e.order < r.order {
		return
	}
	holds, err := h.d.Page.Serve.Stop.When.Holds(e.msg.Params, r.params.Value)
	if err == nil && holds {
		r.stopped.Store(true)
		r.cancel()
	}
	h.warn(err)
}

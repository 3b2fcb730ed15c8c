package server

import (
	"context"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect/page/program"
)

// running is a wrapped call whose hook has not answered yet.
type running struct {
	params  program.Scope // the variables of its request
	cancel  context.CancelFunc
	stopped atomic.Bool // by the client, in the page's own way
}

// run records that a call runs. The context that it returns is the hook's; it
// ends when the call is stopped.
func (h *handler) run(ctx context.Context, sc *program.Scope) (context.Context, *running) {
	ctx, cancel := context.WithCancel(ctx)
	r := &running{params: *sc, cancel: cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running[r] = true
	return ctx, r
}

// ran records that the hook of a call has answered.
func (h *handler) ran(r *running) {
	r.cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, r)
}

// stop ends the calls that a notification names, if it is the one with which
// the page's clients stop calls.
func (h *handler) stop(m *wire.Message) error {
	rule := h.d.Page.Serve.Stop
	if rule == nil || !h.serving || m.Method != rule.Notify {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.running {
		holds, err := rule.When.Holds(m.Params, r.params.Value)
		if err != nil {
			return err
		}
		if holds {
			r.stopped.Store(true)
			r.cancel()
		}
	}
	return nil
}

package server

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// hooked answers a request for a stream whose items are the data of other hooks, which serve.subscribe lists. mine is false if
// none of these hooks is a stream. It does not start a hook that is already running for an earlier request of the client.
func (h *handler) hooked(ctx context.Context, in *dialect.Inbound) (mine bool, err error) {
	name, rule := h.d.Subscription(in.Msg.Method)
	serve := h.d.Page.Serve.Subscribe[name]
	if rule == nil || serve.Hooks == nil || !h.Serving || h.SingleExchange {
		return false, nil
	}
	outs, err := serve.Hooks.All(in.Msg.Params, h.of(&in.Msg).Value)
	if err != nil {
		return true, err
	}
	var begun []*stream
	for _, out := range outs {
		if s := h.newFed(ctx, in, rule, &serve, scan.String(out)); s != nil {
			begun = append(begun, s)
		}
	}
	if len(begun) == 0 {
		return false, nil
	}
	var running sync.WaitGroup
	var opening sync.Once
	var opened error
	failures := make([]error, len(begun))
	for i, s := range begun {
		open := func() error {
			opening.Do(func() { opened = h.open(s, nil) })
			return opened
		}
		running.Go(func() {
			defer wire.Guard()
			failures[i] = h.feed(s, open)
		})
	}
	running.Wait()
	if in.Answered {
		return true, nil
	}
	return true, failures[0]
}

// newFed returns a stream of a hook's data. A message of the client with the hook's name in its params ends the stream. It returns nil if
// the hook is not a stream, or if the client is already receiving its data.
func (h *handler) newFed(ctx context.Context, in *dialect.Inbound, rule *load.Subscribe, serve *load.Items, hook string) *stream {
	if kind, ok := h.Responder.Kind(hook); !ok || kind != catalog.Stream || h.isRunning(hook) {
		return nil
	}
	s := &stream{in: in, rule: rule, serve: *serve, scope: h.of(&in.Msg)}
	s.scope.Name = hook
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.order, s.stream, s.hook = in.Order, true, hook
	s.endedBy = func(m *wire.Message) (bool, error) { return endedBy(rule, m.Method) && holds(m.Params, hook), nil }
	h.add(&s.ongoing)
	return s
}

// isRunning reports whether the client is receiving a hook's data.
func (h *handler) isRunning(hook string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for o := range h.ongoing {
		if o.hook == hook && !o.ended.Load() {
			return true
		}
	}
	return false
}

// feed sends a hook's data as the items of s. open sends the response to the request before the hook starts.
func (h *handler) feed(s *stream, open func() error) error {
	defer h.remove(&s.ongoing)
	progress := h.newProgressSender(s.ctx, &s.in.Msg)
	defer progress.end()
	var failed error
	_, err := h.Responder.Respond(s.ctx, dialect.Request{
		Method: s.hook, Params: s.in.Msg.Params, ID: s.in.Msg.ID, Vars: h.vars(&s.in.Msg), Stream: true, Begin: open,
		Emit: progress.emitter(&failed, func(ev wire.Event) error { return h.item(s.ctx, s, ev.Data) }),
	})
	err = cmp.Or(err, failed)
	if s.in.Answered && s.ctx.Err() == nil {
		h.warn(err)
	}
	return err
}

// holds reports whether params are name or an array that contains name.
func holds(params json.RawMessage, name string) bool {
	for val := range scan.Elements(params) {
		if scan.String(val) == name {
			return true
		}
	}
	return scan.String(params) == name
}

package server

import (
	"context"
	"encoding/json"
	"slices"
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
			defer h.remove(&s.ongoing)
			failures[i] = h.feed(s, dialect.Request{Method: s.hook, Params: in.Msg.Params, ID: in.Msg.ID, Vars: h.vars(&in.Msg), Begin: open})
			if in.Answered && s.ctx.Err() == nil {
				h.warn(failures[i])
			}
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

// holds reports whether params are name or an array that contains name.
func holds(params json.RawMessage, name string) bool {
	return slices.ContainsFunc(append(scan.List(params), params), func(val json.RawMessage) bool { return scan.String(val) == name })
}

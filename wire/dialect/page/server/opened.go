package server

import (
	"encoding/json"
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

const maxOpened = 1_000 // streams of a connection

// opened are the streams that the client has not ended, for dialect files with an error for the end of an unknown
// stream. The hook of a stream may have ended.
type opened struct {
	starting sync.Map // the numbers of the requests for streams that have no response yet
	mu       sync.Mutex
	ends     []json.RawMessage // the params of the messages that end the streams
	forgot   bool              // a stream is missing in ends
}

// Starts implements dialect.Handler.
func (h *handler) Starts(in *dialect.Inbound) {
	if h.tracked(in.Msg.Method) != nil {
		h.opened.starting.Store(in.Order, true)
	}
}

// tracked returns the rule of the streams of that method if the dialect file has an error for the end of unknown ones.
func (h *handler) tracked(method string) *load.Subscribe {
	name, rule := h.d.Subscription(method)
	if rule == nil || !h.Serving || rule.End == nil || h.d.Page.Serve.Subscribe[name].Unknown == nil {
		return nil
	}
	return rule
}

// started records that the request for a stream has been answered. sc is nil if it failed.
func (h *handler) started(in *dialect.Inbound, sc *program.Scope) {
	if _, starting := h.opened.starting.Load(in.Order); !starting {
		return
	}
	defer h.opened.starting.Delete(in.Order)
	if sc == nil {
		return
	}
	params, err := h.tracked(in.Msg.Method).End.Params.First(sc.Result, sc.Value)
	o := &h.opened
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil || len(params) > endingsBytes || len(o.ends) == maxOpened {
		o.forgot = true
		return
	}
	o.ends = append(o.ends, params)
}

// endOf ends the streams that a client's message refers to. It returns an error if there is certainly none, and the
// dialect file has an error for this.
func (h *handler) endOf(in *dialect.Inbound) (mine bool, err error) {
	pending := false // a request for the stream may have arrived before this message
	h.opened.starting.Range(func(order, _ any) bool {
		pending = order.(uint64) < in.Order
		return !pending
	})
	if mine, err = h.ends(in); !mine || err != nil {
		h.warn(err)
		return mine, err
	}
	unknown := h.opened.end(in.Msg.Params) && !pending
	for name, rule := range h.d.Page.Subscribe {
		if e := h.d.Page.Serve.Subscribe[name].Unknown; unknown && e != nil && endedBy(&rule, in.Msg.Method) {
			return true, wire.NewError(e.Code, e.Message)
		}
	}
	return true, nil
}

// end removes the streams that a message with these params ends. It returns true if there was certainly none.
func (o *opened) end(params json.RawMessage) (unknown bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := len(o.ends)
	o.ends = slices.DeleteFunc(o.ends, func(end json.RawMessage) bool { return scan.Equal(scan.OrNull(end), scan.OrNull(params)) })
	return len(o.ends) == before && !o.forgot
}

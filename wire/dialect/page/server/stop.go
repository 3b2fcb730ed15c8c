package server

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/program"
)

// These limits bound the stored messages that end calls or streams. The messages are needed only until the handlers of earlier
// requests have started, a matter of a few messages.
const (
	maxEndings   = 64
	endingsBytes = 4 << 10 // the params of one message; a longer message ends only calls that have started
)

// An ongoing is a wrapped call with a running hook, or a stream.
type ongoing struct {
	order   uint64 // the order of its request
	stream  bool
	hook    string                              // the hook's name if another method has started the stream, else ""
	endedBy func(m *wire.Message) (bool, error) // reports whether a later message of the client ends the call
	cancel  context.CancelFunc
	ended   atomic.Bool // whether the client has ended the call
}

// An ending is a message of the client that ends calls or streams. It is stored because the handler of an earlier request may start
// later.
type ending struct {
	order uint64
	msg   wire.Message
}

// ends ends the ongoing call or stream if e names it.
func (e *ending) ends(o *ongoing) error {
	if e.order < o.order {
		return nil
	}
	ends, err := o.endedBy(&e.msg)
	if err == nil && ends {
		o.ended.Store(true)
		o.cancel()
	}
	return err
}

// add registers an ongoing call or stream. The client may have ended it already.
func (h *handler) add(o *ongoing) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ongoing[o] = true
	for i := range h.endings {
		h.warn(h.endings[i].ends(o))
	}
}

func (h *handler) remove(o *ongoing) {
	o.cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ongoing, o)
}

// end ends the streams, or else the calls, that a client's message names, and stores the message. It returns the first failure of a
// program.
func (h *handler) end(in *dialect.Inbound, streams bool) (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := ending{in.Order, wire.Message{Method: in.Msg.Method, Params: in.Msg.Params}}
	if len(in.Msg.Params) <= endingsBytes {
		if len(h.endings) == maxEndings {
			h.endings = append(h.endings[:0], h.endings[1:]...)
		}
		h.endings = append(h.endings, e)
	}
	for o := range h.ongoing {
		if o.stream == streams {
			err = cmp.Or(err, e.ends(o))
		}
	}
	return err
}

// run registers a running call. It returns the hook's context, which ends with the call and may have ended already.
func (h *handler) run(ctx context.Context, in *dialect.Inbound, sc *program.Scope) (context.Context, *ongoing) {
	ctx, cancel := context.WithCancel(ctx)
	params := *sc
	o := &ongoing{order: in.Order, cancel: cancel, endedBy: func(m *wire.Message) (bool, error) {
		if !h.stops(m.Method) {
			return false, nil
		}
		return h.d.Page.Serve.Stop.When.Holds(m.Params, params.Value)
	}}
	h.add(o)
	return ctx, o
}

// stops reports whether clients stop calls with notifications of that method.
func (h *handler) stops(method string) bool {
	rule := h.d.Page.Serve.Stop
	return rule != nil && h.Serving && method == rule.Notify
}

// keepAlive starts the connection's heartbeats, if any. It returns a function that ends the connection's handler.
func (h *handler) keepAlive() (end func() error) {
	if h.d.Page.Alive.Of(h.Serving) == nil || h.Codec == nil || h.SingleExchange {
		return h.release
	}
	if h.Serving && h.d.Page.Serve.First == "" {
		h.Codec.Begin()
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer wire.Guard()
		defer close(done)
		h.warn(h.Codec.KeepAlive(ctx, h.Caller))
	}()
	return func() error {
		cancel()
		<-done
		return h.release()
	}
}

// closes reports whether a client's message is the last of its connection.
func (h *handler) closes(in *dialect.Inbound) bool {
	return h.Serving && in.Msg.Err == nil && slices.Contains(h.d.Page.Serve.Close, in.Msg.Method)
}

// closing bounds how long the connection stays open for pending responses.
const closing = 2 * time.Second

// close ends the connection after the responses to earlier requests.
func (h *handler) close() {
	go func() {
		defer wire.Guard()
		if settle := h.Caller.Connection().Settle; settle != nil {
			ctx, cancel := context.WithTimeout(context.Background(), closing)
			_ = settle(ctx)
			cancel()
		}
		const normal = 1000
		_ = h.Caller.CloseWith(normal, "")
	}()
}

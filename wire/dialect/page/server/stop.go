package server

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// Limits of the stored messages that end calls or streams. A message is needed only until the handlers of earlier requests
// have started, which takes a few messages.
const (
	maxEndings   = 64
	endingsBytes = 4 << 10 // bytes in the params of one message; a longer message ends only calls that have started
)

// An ongoing is a wrapped call whose hook is running, or a stream.
type ongoing struct {
	order   uint64 // the number of its request (see dialect.Inbound)
	stream  bool
	hook    string                              // the name of the hook if the request names another method, else ""
	endedBy func(m *wire.Message) (bool, error) // reports whether a message of the client ends the call or stream
	cancel  context.CancelFunc
	ended   atomic.Bool // the client has ended the call or stream
}

// An ending is a client's message that ends calls or streams. It is stored because handlers of earlier requests may start after it
// has arrived.
type ending struct {
	order uint64
	msg   wire.Message
}

// ends ends a call or stream if e refers to it.
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

// add registers a call or stream. It ends the call or stream if the client's message for that has already arrived.
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

// end ends the streams (or the calls, if streams is false) that a client's message refers to, and stores the message. It returns
// the first failure of a program.
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

// stops reports whether a notification of that method ends calls.
func (h *handler) stops(method string) bool {
	rule := h.d.Page.Serve.Stop
	return rule != nil && h.Serving && method == rule.Notify
}

// keepAlive starts the connection's heartbeats, if there are any. It returns a function that stops them and releases
// the handler.
func (h *handler) keepAlive() (end func() error) {
	if h.d.Page.Alive.Of(h.Serving) == nil || h.SingleExchange {
		return h.release
	}
	if h.Serving && h.d.Page.Serve.First == "" {
		h.Codec.Begin()
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := wire.Go(func() {
		defer wire.Guard()
		h.warn(h.Codec.KeepAlive(ctx, h.Caller))
	})
	return func() error {
		cancel()
		<-done
		return h.release()
	}
}

// closing bounds the wait for pending responses before the connection closes.
const closing = 2 * time.Second

// close closes the connection after the responses to earlier requests are sent.
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

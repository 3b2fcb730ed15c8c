package server

import (
	"context"
	"slices"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// keepAlive begins the heartbeats of the connection if the dialect file has any. It returns a function that ends the connection's
// handler.
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

// closes reports whether a message of the client is the last of its connection.
func (h *handler) closes(in *dialect.Inbound) bool {
	return h.Serving && in.Msg.Err == nil && slices.Contains(h.d.Page.Serve.Close, in.Msg.Method)
}

// closing bounds how long the connection stays open for pending responses.
const closing = 2 * time.Second

// close ends the connection once the earlier requests are answered.
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
